package io.lockkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.lock.LockName;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Who may do what, and how much of it. */
class PolicyTest {

  private static final String SHOP =
      """
      rules:
        - name: shop
          identities: ["jwt:shop-*", "spiffe://prod/ns/shop/sa/*"]
          locks: ["orders/*", "payments/settle"]
          rights: [acquire, watch]
        - identities: ["token:ci"]
          locks: ["*"]
          rights: [all]
        - name: guests
          identities: [anonymous]
          locks: ["lobby/*"]
          rights: [read]
      limits:
        - identities: ["token:ci"]
          leases: 7
          max-ttl: 60s
          max-wait: 1h
          max-lock-delay: 0s
        - identities: ["*"]
          leases: 8
          entry-bytes: 8388608
      namespaces:
        - names: [orders, payments]
          acquisitions: 10000
      """;

  private static Policy policy(String yaml) {
    return Policy.parse(yaml.getBytes(StandardCharsets.UTF_8));
  }

  private static boolean permits(String identity, Right right, String lock) {
    return policy(SHOP).permits(Identity.of(identity), right, new LockName(lock));
  }

  @ParameterizedTest(name = "{0} {1} {2}: {3}")
  @CsvSource({
    "jwt:shop-1,                ACQUIRE,        orders/42,       true",
    "jwt:shop-1,                WATCH,          orders/a/b,      true",
    "jwt:shop-1,                ACQUIRE,        payments/settle, true",
    "jwt:shop-1,                READ,           orders/42,       false",
    "jwt:shop-1,                ACQUIRE,        orders,          false",
    "jwt:shop-1,                ACQUIRE,        ordersx/42,      false",
    "jwt:shop-1,                ACQUIRE,        payments/settle2, false",
    "jwt:shop-1,                ACQUIRE,        payments/s,      false",
    "jwt:shop,                  ACQUIRE,        orders/42,       false",
    "jwt:shop-1/x,              ACQUIRE,        orders/42,       false",
    "spiffe://prod/ns/shop/sa/a, ACQUIRE,       orders/42,       true",
    "spiffe://prod/ns/web/sa/a, ACQUIRE,        orders/42,       false",
    "token:ci,                  ADMIN,          anything/at/all, true",
    "anonymous,                 READ,           lobby/1,         true",
    "anonymous,                 ACQUIRE,        lobby/1,         false",
    "anonymous,                 READ,           orders/42,       false",
    "token:other,               READ,           lobby/1,         false",
  })
  void onlyWhatARuleAllowsIsPermitted(
      String identity, Right right, String lock, boolean permitted) {
    // When // Then
    assertThat(permits(identity, right, lock)).isEqualTo(permitted);
  }

  @Test
  void whoMayAcquireMayAcquireShared() {
    // When // Then
    assertThat(permits("jwt:shop-1", Right.ACQUIRE_SHARED, "orders/42")).isTrue();
  }

  @Test
  void whoMayAcquireSharedMayNotAcquire() {
    // Given
    Policy policy =
        policy(
            "rules: [{identities: ['jwt:a'], locks: ['*'], rights: [acquire-shared]}]"
                .replace('\'', '"'));

    // When // Then
    assertThat(policy.permits(Identity.of("jwt:a"), Right.ACQUIRE_SHARED, new LockName("x")))
        .isTrue();
    assertThat(policy.permits(Identity.of("jwt:a"), Right.ACQUIRE, new LockName("x"))).isFalse();
  }

  @ParameterizedTest
  @EnumSource(Right.class)
  void allGivesEveryRight(Right right) {
    // When // Then
    assertThat(permits("token:ci", right, "anything")).isTrue();
  }

  @Test
  void ruleMeansAnIdentityByAnyOfItsNames() {
    // Given
    Identity pod = new Identity("dns:a.example", List.of("dns:a.example", "jwt:shop-7"));

    // When // Then
    assertThat(policy(SHOP).permits(pod, Right.WATCH, new LockName("orders/1"))).isTrue();
  }

  @ParameterizedTest(name = "{0} on all of \"{1}\": {2}")
  @CsvSource({
    "jwt:shop-1, orders/,         true",
    "jwt:shop-1, orders/eu/,      true",
    "jwt:shop-1, orders/e,        true",
    "jwt:shop-1, orders,          false",
    "jwt:shop-1, payments/settle, false",
    "jwt:shop-1, '',              false",
    "token:ci,   '',              true",
    "token:ci,   whatever,        true",
  })
  void allLocksOfAPrefixArePermittedWhereOnePrefixCoversThem(
      String identity, String prefix, boolean permitted) {
    // When // Then
    assertThat(policy(SHOP).permitsAll(Identity.of(identity), Right.WATCH, prefix))
        .isEqualTo(permitted);
  }

  @Test
  void firstLimitsThatMeanTheIdentityCountAndWhatTheyLeaveOutIsTheDefault() {
    // When
    Limits ci = policy(SHOP).limitsOf(Identity.of("token:ci"));
    Limits others = policy(SHOP).limitsOf(Identity.of("jwt:x"));

    // Then
    assertThat(ci.leases()).isEqualTo(7);
    assertThat(ci.maxTtl()).isEqualTo(Duration.ofMinutes(1));
    assertThat(ci.maxWait()).isEqualTo(Duration.ofHours(1));
    assertThat(ci.maxLockDelay()).isZero();
    assertThat(ci.streams()).isEqualTo(Limits.DEFAULTS.streams());
    assertThat(others.leases()).isEqualTo(8);
    assertThat(others.entryBytes()).isEqualTo(8_388_608);
    assertThat(others.maxTtl()).isEqualTo(Limits.DEFAULTS.maxTtl());
  }

  @Test
  void strangersHaveTheDefaultLimitsUnlessAnonymousIsNamed() {
    // When // Then
    assertThat(policy(SHOP).limitsOf(Identity.ANONYMOUS)).isEqualTo(Limits.DEFAULTS);
  }

  @Test
  void namespaceHasTheLimitThatIsSaidAndElseNone() {
    // When // Then
    assertThat(policy(SHOP).maxAcquisitionsOf("payments")).isEqualTo(10_000);
    assertThat(policy(SHOP).maxAcquisitionsOf("lobby")).isEqualTo(Integer.MAX_VALUE);
    assertThat(Authority.OPEN.maxAcquisitionsOf("lobby")).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void explanationNamesTheRuleThatPermits() {
    // When
    Explanation named = explain("jwt:shop-1", Right.ACQUIRE, "orders/1");
    Explanation numbered = explain("token:ci", Right.ACQUIRE, "orders/1");

    // Then
    assertThat(named.rule()).contains("rule 1 (shop)");
    assertThat(numbered.rule()).contains("rule 2");
  }

  @Test
  void explanationOfADenialNamesWhatTheRulesThatMeanTheIdentityLack() {
    // When // Then
    assertThat(explain("jwt:shop-1", Right.READ, "orders/1").near())
        .containsExactly("rule 1 (shop) gives other rights: acquire, watch");
    assertThat(explain("jwt:shop-1", Right.WATCH, "stock").near())
        .containsExactly("rule 1 (shop) has other locks: orders/*, payments/settle");
    assertThat(explain("jwt:shop-1", Right.ADMIN, "stock").near())
        .containsExactly(
            "rule 1 (shop) has other locks: orders/*, payments/settle, and gives other rights: acquire, watch");
    assertThat(explain("jwt:nobody", Right.READ, "orders/1").near()).isEmpty();
  }

  private static Explanation explain(String identity, Right right, String lock) {
    Explanation explanation =
        policy(SHOP).explain(Identity.of(identity), right, new LockName(lock));
    assertThat(explanation.isPermitted()).isEqualTo(permits(identity, right, lock));
    return explanation;
  }

  @Property(tries = 2_000, seed = "4711")
  void decisionIsTheOneOfWalkingAllRules(@ForAll long seed) {
    // Given
    RandomPolicy made = new RandomPolicy(new Random(seed));
    Policy policy = new Policy(made.rules(), List.of(), Map.of());

    for (int i = 0; i < 20; i++) {
      // When
      Identity identity = made.identity();
      Right right = made.right();
      String name = made.lockName();

      // Then
      assertThat(policy.permits(identity, right, new LockName(name)))
          .as("%s %s %s by %s", identity, right, name, made.rules())
          .isEqualTo(made.permits(identity, right, name));
      assertThat(policy.permitsAll(identity, right, made.prefixOf(name)))
          .as("%s %s all of %s by %s", identity, right, made.prefixOf(name), made.rules())
          .isEqualTo(made.permitsAll(identity, right, made.prefixOf(name)));
      assertThat(policy.explain(identity, right, new LockName(name)).isPermitted())
          .isEqualTo(made.permits(identity, right, name));
      String later = made.lockName();
      Optional<String> next = policy.nextPermitted(identity, right, name);
      assertThat(next.filter(name::equals).isPresent())
          .isEqualTo(made.permits(identity, right, name));
      if (later.compareTo(name) >= 0 && made.permits(identity, right, later)) {
        assertThat(next).hasValueSatisfying(start -> assertThat(start).isLessThanOrEqualTo(later));
      }
    }
  }

  @Test
  void moreIdentitiesThanAreRememberedAreDecidedAllTheSame() {
    // Given
    Policy policy = policy(SHOP);

    // When
    int permitted = 0;
    for (int i = 0; i < Policy.MAX_REMEMBERED + 100; i++) {
      Identity identity = Identity.of("jwt:shop-" + i);
      permitted += policy.permits(identity, Right.ACQUIRE, new LockName("orders/1")) ? 1 : 0;
    }

    // Then
    assertThat(permitted).isEqualTo(Policy.MAX_REMEMBERED + 100);
    assertThat(policy.remembered()).isLessThanOrEqualTo(Policy.MAX_REMEMBERED);
  }

  @Test
  void severalThreadsThatAskAtOnceAreAllToldTheSame() throws Exception {
    // Given
    Policy policy = policy(SHOP);
    CountDownLatch start = new CountDownLatch(1);
    ExecutorService threads = Executors.newFixedThreadPool(4);

    // When
    List<Future<Boolean>> answers =
        IntStream.range(0, 4)
            .mapToObj(
                t ->
                    threads.submit(
                        () -> {
                          start.await();
                          return IntStream.range(0, 5_000)
                              .allMatch(
                                  i ->
                                      policy.permits(
                                              Identity.of("jwt:shop-" + i % 500),
                                              Right.ACQUIRE,
                                              new LockName("orders/1"))
                                          && !policy.permits(
                                              Identity.of("jwt:web-" + i % 500),
                                              Right.ACQUIRE,
                                              new LockName("orders/1")));
                        }))
            .toList();
    start.countDown();

    // Then
    for (Future<Boolean> answer : answers) {
      assertThat(answer.get()).isTrue();
    }
    threads.shutdownNow();
  }

  /** Rules at random, small enough that they meet, and a second implementation that is slow. */
  private static final class RandomPolicy {

    private static final List<String> SEGMENTS = List.of("a", "b", "ab", "a!");
    private final Random random;
    private final List<Rule> rules;

    RandomPolicy(Random random) {
      this.random = random;
      this.rules = IntStream.rangeClosed(1, random.nextInt(12) + 1).mapToObj(this::rule).toList();
    }

    List<Rule> rules() {
      return rules;
    }

    private Rule rule(int number) {
      String subject =
          List.of("jwt:u1", "jwt:u*", "*", "anonymous", "jwt:u2").get(random.nextInt(5));
      List<LockPattern> locks =
          IntStream.rangeClosed(0, random.nextInt(4))
              .mapToObj(
                  i -> {
                    String name = lockName();
                    return switch (random.nextInt(3)) {
                      case 0 -> new LockPattern(name, false);
                      case 1 -> new LockPattern(prefixOf(name), true);
                      default -> new LockPattern(name + "/", true);
                    };
                  })
              .toList();
      return new Rule(
          number, Optional.empty(), List.of(new IdentityPattern(subject)), locks, Set.of(right()));
    }

    Identity identity() {
      return Identity.of(
          List.of("jwt:u1", "jwt:u2", "anonymous", "token:t").get(random.nextInt(4)));
    }

    Right right() {
      return List.of(Right.READ, Right.ACQUIRE, Right.ACQUIRE_SHARED).get(random.nextInt(3));
    }

    String lockName() {
      return String.join(
          "/",
          IntStream.rangeClosed(0, random.nextInt(3))
              .mapToObj(i -> SEGMENTS.get(random.nextInt(SEGMENTS.size())))
              .toList());
    }

    String prefixOf(String name) {
      return name.substring(0, name.length() / 2);
    }

    boolean permits(Identity identity, Right right, String lock) {
      return walk(
          identity,
          right,
          pattern ->
              pattern.isPrefix() ? lock.startsWith(pattern.text()) : lock.equals(pattern.text()));
    }

    boolean permitsAll(Identity identity, Right right, String prefix) {
      return walk(
          identity, right, pattern -> pattern.isPrefix() && prefix.startsWith(pattern.text()));
    }

    private boolean walk(Identity identity, Right right, Predicate<LockPattern> covers) {
      boolean permitted = false;
      for (Rule rule : rules) {
        String subject = rule.identities().get(0).toString();
        boolean means =
            switch (subject) {
              case "*" -> !identity.name().equals("anonymous");
              case "jwt:u*" -> identity.name().startsWith("jwt:u");
              default -> identity.name().equals(subject);
            };
        boolean gives =
            rule.rights().contains(right)
                || (right == Right.ACQUIRE_SHARED && rule.rights().contains(Right.ACQUIRE));
        permitted |= means && gives && rule.locks().stream().anyMatch(covers);
      }
      return permitted;
    }
  }

  @Test
  void everyRightHasANameInTheFile() {
    // When // Then
    assertThat(Arrays.stream(Right.values()).map(right -> Right.ofKey(right.key())))
        .containsExactlyElementsOf(Arrays.stream(Right.values()).map(Optional::of).toList());
  }
}
