package io.lockkeeper.server.security;

import io.lockkeeper.server.core.lock.LockName;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the policy's file says: who may do what, and how much of it. What no rule allows is denied.
 *
 * <p>What the rules come to for one identity is worked out when it is first seen and remembered, so
 * that a decision costs two look-ups, however many rules there are. Identities that the same rules
 * mean share it.
 */
public final class Policy implements Authority {

  /** How many identities are remembered; beyond, all are forgotten and worked out again. */
  static final int MAX_REMEMBERED = 10_000;

  private final List<Rule> rules;
  private final List<LimitsRule> limits;
  private final Map<String, Integer> maxAcquisitions;
  private final Map<Identity, Access> accesses = new ConcurrentHashMap<>();
  private final Map<BitSet, Map<Right, LockSet>> grants = new ConcurrentHashMap<>();

  /** How much those may have who match one of these. */
  record LimitsRule(List<IdentityPattern> identities, Limits limits) {}

  /** What the policy comes to for one identity. */
  private record Access(Map<Right, LockSet> locks, Limits limits) {

    LockSet of(Right right) {
      LockSet set = locks.get(right);
      if (set == null) {
        throw new IllegalStateException("every right has its locks, be they none");
      }
      return set;
    }
  }

  /** Takes what the file says; {@code maxAcquisitions} is by namespace. */
  Policy(List<Rule> rules, List<LimitsRule> limits, Map<String, Integer> maxAcquisitions) {
    this.rules = List.copyOf(rules);
    this.limits = List.copyOf(limits);
    this.maxAcquisitions = Map.copyOf(maxAcquisitions);
  }

  /**
   * Reads the content of a policy's file.
   *
   * @throws IllegalArgumentException if it is not one; the message says which line and rule, and
   *     what is allowed there
   */
  public static Policy parse(byte[] file) {
    return PolicyFile.parse(file);
  }

  @Override
  public boolean permits(Identity identity, Right right, LockName lock) {
    return accessOf(identity).of(right).has(lock.value());
  }

  @Override
  public boolean permitsAll(Identity identity, Right right, String prefix) {
    return accessOf(identity).of(right).hasAllFrom(prefix);
  }

  @Override
  public Optional<String> nextPermitted(Identity identity, Right right, String from) {
    return accessOf(identity).of(right).next(from);
  }

  @Override
  public Limits limitsOf(Identity identity) {
    return accessOf(identity).limits();
  }

  @Override
  public int maxAcquisitionsOf(String namespace) {
    return maxAcquisitions.getOrDefault(namespace, Integer.MAX_VALUE);
  }

  private Access accessOf(Identity identity) {
    Access known = accesses.get(identity);
    if (known != null) {
      return known;
    }
    BitSet meant = new BitSet();
    for (int i = 0; i < rules.size(); i++) {
      meant.set(i, rules.get(i).means(identity));
    }
    Access access = new Access(grantsOf(meant), findLimits(identity));
    remember(accesses, identity, access);
    return access;
  }

  private Map<Right, LockSet> grantsOf(BitSet meant) {
    Map<Right, LockSet> known = grants.get(meant);
    if (known != null) {
      return known;
    }
    List<Rule> those = meant.stream().mapToObj(rules::get).toList();
    Map<Right, LockSet> made = new EnumMap<>(Right.class);
    for (Right right : Right.values()) {
      made.put(
          right,
          new LockSet(
              those.stream()
                  .filter(rule -> rule.gives(right))
                  .flatMap(rule -> rule.locks().stream())
                  .toList()));
    }
    remember(grants, meant, made);
    return made;
  }

  private Limits findLimits(Identity identity) {
    return limits.stream()
        .filter(rule -> rule.identities().stream().anyMatch(each -> each.matches(identity)))
        .findFirst()
        .map(LimitsRule::limits)
        .orElse(Limits.DEFAULTS);
  }

  private static <K, V> void remember(Map<K, V> memory, K key, V value) {
    if (memory.size() >= MAX_REMEMBERED) {
      memory.clear();
    }
    memory.put(key, value);
  }

  /** Returns how many identities are remembered. */
  int remembered() {
    return accesses.size();
  }

  /** Returns which rule permits it, or which come near. */
  public Explanation explain(Identity identity, Right right, LockName lock) {
    List<String> near = new ArrayList<>();
    for (Rule rule : rules) {
      if (!rule.means(identity)) {
        continue;
      }
      boolean locks = rule.means(lock.value());
      boolean gives = rule.gives(right);
      if (locks && gives) {
        return new Explanation(Optional.of(rule.toString()), List.of());
      }
      near.add(
          rule
              + (locks ? "" : " has other locks: " + join(rule.locks()))
              + (locks || gives ? "" : ", and")
              + (gives ? "" : " gives other rights: " + rule.rightsText()));
    }
    return new Explanation(Optional.empty(), near);
  }

  /** Returns whether any rule means the identity. */
  public boolean means(Identity identity) {
    return rules.stream().anyMatch(rule -> rule.means(identity));
  }

  /** Returns the rules, for a person to read. */
  public List<RuleText> describe() {
    return rules.stream()
        .map(
            rule ->
                new RuleText(
                    rule.number(),
                    rule.name().orElse(""),
                    join(rule.identities()),
                    join(rule.locks()),
                    rule.rightsText()))
        .toList();
  }

  private static String join(List<?> patterns) {
    return String.join(", ", patterns.stream().map(Object::toString).toList());
  }

  /**
   * One rule, for a person to read.
   *
   * @param number its place in the file, from 1
   * @param name its name, empty if it has none
   * @param identities whom it means
   * @param locks the locks that it means
   * @param rights what it allows
   */
  public record RuleText(int number, String name, String identities, String locks, String rights) {}
}
