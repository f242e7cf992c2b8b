package io.lockkeeper.server.zookeeper.member;

import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The members that somebody suspects to be dead. A suspicion is about the claims that the member
 * had when it arose: one that it makes later shows that it lives. It waits for a look at the
 * claims, but not for long, and is over when the member has none of these claims any more.
 */
final class Suspicions {

  /** How long a suspicion waits for the next look. Whoever still has it by then says so again. */
  static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Map<String, Long> raised = new HashMap<>();
  private final Map<String, Map<String, Integer>> suspects = new HashMap<>();

  /** Takes note of a suspicion, for the next look. */
  void raise(String member, long nowNanos) {
    raised.put(member, nowNanos);
  }

  /** Takes all members and claims as they were seen just now. */
  void look(Set<String> members, Map<String, VersionedClaim> claims, long nowNanos) {
    raised.forEach(
        (member, atNanos) -> {
          if (nowNanos - atNanos <= MAX_AGE_NANOS) {
            suspects.put(member, versions(member, claims));
          }
        });
    raised.clear();
    suspects.keySet().retainAll(members);
    suspects.replaceAll(
        (member, then) -> {
          Map<String, Integer> left = new HashMap<>(versions(member, claims));
          left.entrySet().retainAll(then.entrySet());
          return left;
        });
    suspects.values().removeIf(Map::isEmpty);
  }

  private static Map<String, Integer> versions(String member, Map<String, VersionedClaim> claims) {
    return claims.entrySet().stream()
        .filter(claim -> claim.getValue().record().owner().equals(member))
        .collect(Collectors.toMap(Map.Entry::getKey, claim -> claim.getValue().version()));
  }

  /** Returns whether the owner of a claim is suspected to be dead. */
  boolean isSuspect(String claimName, VersionedClaim claim) {
    Integer version = suspects.getOrDefault(claim.record().owner(), Map.of()).get(claimName);
    return version != null && version == claim.version();
  }

  /** Returns whether a member is suspected to be dead, whatever else it owns by now. */
  boolean isSuspect(String member) {
    return suspects.containsKey(member);
  }
}
