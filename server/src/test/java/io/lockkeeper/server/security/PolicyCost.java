package io.lockkeeper.server.security;

import io.lockkeeper.server.core.lock.LockName;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What a decision costs with a thousand rules, for identities that one, a hundred and all of them
 * mean; half of the locks that are asked for are permitted. Prints the time of one decision, of the
 * first (which works out what the rules come to), and whether it is below a microsecond. No test:
 * run {@link #main}; it ends with 1 if one is not.
 */
public final class PolicyCost {

  private static final int RULES = 1_000;
  private static final int LOCKS = 1_024;
  private static final int ROUNDS = 2_000;
  private static final int WARM_UPS = 5;
  private static final int FIRSTS = 100;
  private static final double LIMIT_NANOS = 1_000;

  private PolicyCost() {}

  /** Measures. */
  public static void main(String[] args) {
    Policy policy = policy();
    double one = measure(policy, 1);
    double all = measure(policy, RULES);
    double some = measure(policy, 100);
    System.out.printf("%d rules to 1: %.2f times the time of a decision%n", RULES, all / one);
    if (Math.max(one, Math.max(some, all)) > LIMIT_NANOS) {
      System.out.println("TOO SLOW: a decision must take less than 1000 ns");
      System.exit(1);
    }
  }

  /** Returns a policy whose rule i means {@code jwt:N} if i is below N. */
  private static Policy policy() {
    String rules =
        IntStream.range(0, RULES)
            .mapToObj(
                i ->
                    "- {identities: [%s], locks: [\"ns%d/*\", \"exact/%d\"], rights: [acquire]}%n"
                        .formatted(
                            List.of(1, 100, RULES).stream()
                                .filter(means -> i < means)
                                .map(means -> "\"jwt:" + means + "\"")
                                .collect(Collectors.joining(", ")),
                            i,
                            i))
            .collect(Collectors.joining("", "rules:\n", ""));
    return Policy.parse(rules.getBytes(StandardCharsets.UTF_8));
  }

  private static double measure(Policy policy, int means) {
    Identity identity = Identity.of("jwt:" + means);
    Random random = new Random(means);
    LockName[] locks =
        IntStream.range(0, LOCKS)
            .mapToObj(
                i -> {
                  int rule = random.nextInt(means) + (i % 2 == 0 ? 0 : RULES);
                  return new LockName(i % 4 < 2 ? "ns" + rule + "/order" : "exact/" + rule);
                })
            .toArray(LockName[]::new);
    long permitted = 0;
    double nanos = 0;
    for (int pass = 0; pass <= WARM_UPS; pass++) {
      permitted = 0;
      long start = System.nanoTime();
      for (int round = 0; round < ROUNDS; round++) {
        for (LockName lock : locks) {
          permitted += policy.permits(identity, Right.ACQUIRE, lock) ? 1 : 0;
        }
      }
      nanos = (System.nanoTime() - start) / (double) (ROUNDS * LOCKS);
    }
    System.out.printf(
        "%4d of %d rules mean the identity: %4.0f ns a decision, the first %5.0f us (%d of %d permitted)%n",
        means, RULES, nanos, firstMicros(identity, locks[0]), permitted / ROUNDS, LOCKS);
    return nanos;
  }

  /** Returns what the first decision of a policy costs, with code that is warm. */
  private static double firstMicros(Identity identity, LockName lock) {
    long fastest = Long.MAX_VALUE;
    for (int i = 0; i < FIRSTS; i++) {
      Policy fresh = policy();
      long start = System.nanoTime();
      fresh.permits(identity, Right.ACQUIRE, lock);
      fastest = Math.min(fastest, System.nanoTime() - start);
    }
    return fastest / 1e3;
  }
}
