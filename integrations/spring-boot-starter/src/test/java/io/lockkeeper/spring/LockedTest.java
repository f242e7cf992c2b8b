package io.lockkeeper.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockInfo;
import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LockMode;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.testing.InMemoryLockkeeper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.SimpleTransactionStatus;

/** What the callers of a {@link Locked} method see. */
class LockedTest {

  private final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  private final LockkeeperClient client = server.clientBuilder().build();
  private final LockkeeperClient other = server.clientBuilder().holder("other").build();
  private AnnotationConfigApplicationContext context;
  private Warehouse warehouse;

  @BeforeEach
  void start() {
    context = new AnnotationConfigApplicationContext();
    context.registerBean(LockkeeperClient.class, () -> client);
    context.register(Beans.class);
    context.refresh();
    warehouse = context.getBean(Warehouse.class);
  }

  @AfterEach
  void stop() {
    context.close();
    other.close();
    server.close();
  }

  @Configuration
  @EnableTransactionManagement
  static class Beans {

    @Bean
    static LockedBeanPostProcessor locks() {
      return new LockedBeanPostProcessor();
    }

    @Bean
    Warehouse warehouse() {
      return new Warehouse();
    }

    @Bean
    Names names() {
      return new Names();
    }

    @Bean
    Transactions transactions(LockkeeperClient client) {
      return new Transactions(client);
    }
  }

  /** Another bean, for expressions. */
  static class Names {
    public String of(int number) {
      return "n" + number;
    }
  }

  /** Remembers who held the lock when a transaction was committed. */
  static final class Transactions implements PlatformTransactionManager {
    private final LockkeeperClient client;
    private final List<Integer> holdersAtCommit = new ArrayList<>();

    Transactions(LockkeeperClient client) {
      this.client = client;
    }

    @Override
    public TransactionStatus getTransaction(TransactionDefinition definition) {
      return new SimpleTransactionStatus();
    }

    @Override
    public void commit(TransactionStatus status) {
      holdersAtCommit.add(client.getLock("orders/committed").holders().size());
    }

    @Override
    public void rollback(TransactionStatus status) {}
  }

  /** The bean under test. */
  static class Warehouse {

    @Autowired LockkeeperClient client;

    @Locked("orders/#{#id}")
    public <T> T during(String id, Supplier<T> work) {
      return work.get();
    }

    @Locked("orders/#{#p0 + 1}-#{@names.of(7)}-#{target.suffix()}")
    public String named(int number) {
      return CurrentLock.handle().name();
    }

    public String suffix() {
      return "z";
    }

    @Locked(value = "orders/waits", waitAtMost = "0s")
    public String waits() {
      return "done";
    }

    @Locked(value = "orders/skips", waitAtMost = "0s", ifTaken = Locked.IfTaken.SKIP)
    public void skips(List<String> runs) {
      runs.add("ran");
    }

    @Locked(value = "orders/skips", waitAtMost = "0s", ifTaken = Locked.IfTaken.SKIP)
    public void failsInside() {
      waits();
      throw new NotAcquiredException(
          "inner", io.lockkeeper.client.NotAcquiredReason.TIMED_OUT, "", List.of());
    }

    @Locked(value = "orders/read", mode = LockMode.READ)
    public <T> T reading(Supplier<T> work) {
      return work.get();
    }

    @Locked(value = "orders/permits", mode = LockMode.PERMITS, limit = 2)
    public <T> T permitted(Supplier<T> work) {
      return work.get();
    }

    @Locked("orders/checked")
    public void checked() throws IOException {
      throw new IOException("full");
    }

    @Locked("orders/again")
    public long reentered(Supplier<Long> inner) {
      return CurrentLock.fencingToken() - inner.get();
    }

    @Locked("orders/lost")
    public String awaitsLoss(CountDownLatch entered) {
      entered.countDown();
      try {
        new CountDownLatch(1).await();
        return "never";
      } catch (InterruptedException e) {
        return "returned all the same";
      }
    }

    @Locked("orders/committed")
    @Transactional
    public void commits() {}

    @Locked("orders/interrupted")
    public void interrupted() {}
  }

  @Test
  void methodHoldsTheLockOfItsArgumentAndHasItsToken() {
    // Given
    AtomicReference<LockInfo> seen = new AtomicReference<>();
    // When
    long token =
        warehouse.during(
            "42",
            () -> {
              seen.set(other.getLock("orders/42"));
              return CurrentLock.fencingToken();
            });
    // Then
    assertThat(seen.get().holders()).hasSize(1);
    assertThat(seen.get().holders().get(0).fencingToken()).hasValue(token);
    assertThat(other.getLock("orders/42").holders()).isEmpty();
    assertThatThrownBy(CurrentLock::handle)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("runs no @Locked method");
  }

  @Test
  void nameMayUseParametersByPlaceAndOtherBeansAndTheBeanItself() {
    assertThat(warehouse.named(41)).isEqualTo("orders/42-n7-z");
  }

  @Test
  void valueThatIsMissingOrHasASlashFailsTheCallAndTakesNoLock() {
    // When, then
    assertThatThrownBy(() -> warehouse.during(null, () -> 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Warehouse.during")
        .hasMessageContaining("#{#id} is null");
    assertThatThrownBy(() -> warehouse.during("", () -> 1)).hasMessageContaining("is empty");
    assertThatThrownBy(() -> warehouse.during("42/refund", () -> 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has a slash");
    assertThat(other.listLocks("orders/")).isEmpty();
  }

  @Test
  void methodThatWaitsInVainThrowsOrIsSkippedAsItSays() throws InterruptedException {
    // Given
    List<String> runs = new ArrayList<>();
    try (LockHandle first = other.lock("orders/waits");
        LockHandle second = other.lock("orders/skips")) {
      // When, then
      assertThatThrownBy(() -> warehouse.waits())
          .isInstanceOf(NotAcquiredException.class)
          .hasMessageContaining("other");
      warehouse.skips(runs);
      assertThat(runs).isEmpty();
    }
    assertThat(warehouse.waits()).isEqualTo("done");
    warehouse.skips(runs);
    assertThat(runs).containsExactly("ran");
  }

  @Test
  void lockThatTheMethodItselfDoesNotGetIsNoReasonToSkip() {
    assertThatThrownBy(() -> warehouse.failsInside()).isInstanceOf(NotAcquiredException.class);
  }

  @Test
  void readersAndPermitsShare() {
    // When
    int readers =
        warehouse.reading(
            () ->
                CompletableFuture.supplyAsync(
                        () -> warehouse.reading(() -> other.getLock("orders/read").holders()))
                    .join()
                    .size());
    int permits =
        warehouse.permitted(
            () ->
                CompletableFuture.supplyAsync(
                        () -> warehouse.permitted(() -> other.getLock("orders/permits").holders()))
                    .join()
                    .size());
    // Then
    assertThat(readers).isEqualTo(2);
    assertThat(permits).isEqualTo(2);
  }

  @Test
  void exceptionOfTheMethodIsThrownAsItIsAndTheLockReleased() {
    assertThatThrownBy(() -> warehouse.checked())
        .isInstanceOf(IOException.class)
        .hasMessage("full");
    assertThat(other.getLock("orders/checked").holders()).isEmpty();
  }

  @Test
  void valueWhoseWorkGoesOnIsRefusedThoughTheDeclaredTypeDoesNotShowIt() {
    // When, then
    assertThatThrownBy(() -> warehouse.during("42", CompletableFuture::new))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Warehouse.during")
        .hasMessageContaining("its CompletableFuture, before the work is done");
    assertThatThrownBy(
            () -> warehouse.during("42", () -> (Flow.Publisher<String>) subscriber -> {}))
        .isInstanceOf(IllegalStateException.class);
    assertThat(other.getLock("orders/42").holders()).isEmpty();
  }

  @Test
  void methodThatCallsAnotherOfTheSameLockKeepsItsToken() {
    assertThat(warehouse.reentered(() -> warehouse.reentered(() -> 0L))).isZero();
    assertThat(other.getLock("orders/again").holders()).isEmpty();
  }

  @Test
  void lossInterruptsTheMethodAndReachesTheCallerWhateverItReturned() throws Exception {
    // Given
    CountDownLatch entered = new CountDownLatch(1);
    CompletableFuture<String> call =
        CompletableFuture.supplyAsync(() -> warehouse.awaitsLoss(entered));
    assertThat(entered.await(60, TimeUnit.SECONDS)).isTrue();
    // When
    server.removeHolder("orders/lost");
    // Then
    assertThatThrownBy(call::join).hasCauseInstanceOf(LockLostException.class);
  }

  @Test
  void transactionIsCommittedWhileTheLockIsHeld() {
    // When
    warehouse.commits();
    // Then
    assertThat(context.getBean(Transactions.class).holdersAtCommit).containsExactly(1);
    assertThat(other.getLock("orders/committed").holders()).isEmpty();
  }

  @Test
  void beanThatLocksWhileTheApplicationStopsFindsTheClientOpen() {
    // Given
    AtomicReference<Long> token = new AtomicReference<>();
    AnnotationConfigApplicationContext stopping = new AnnotationConfigApplicationContext();
    stopping.register(Beans.class);
    stopping.registerBean("last", Closing.class, () -> new Closing(stopping, token));
    stopping.registerBean("client", LockkeeperClient.class, () -> server.clientBuilder().build());
    stopping.refresh();
    // When
    stopping.close();
    // Then
    assertThat(token.get()).isPositive();
  }

  /** Has something to do at the end. */
  static class Closing implements DisposableBean {
    private final Warehouse warehouse;
    private final AtomicReference<Long> token;

    Closing(AnnotationConfigApplicationContext context, AtomicReference<Long> token) {
      this.warehouse = context.getBean(Warehouse.class);
      this.token = token;
    }

    @Override
    public void destroy() {
      token.set(warehouse.during("last", CurrentLock::fencingToken));
    }
  }

  /** What a framework implements without a class of the application's. */
  interface Gateway {
    @Locked("orders/sent")
    void send();
  }

  @Test
  void interfaceWithoutAClassIsRefusedByTheNameOfItsMethod() {
    // Given
    Gateway proxy = ProxyFactory.getProxy(Gateway.class, (MethodInterceptor) call -> null);
    AnnotationConfigApplicationContext gateways = new AnnotationConfigApplicationContext();
    gateways.register(Beans.class);
    gateways.registerBean("client", LockkeeperClient.class, () -> client);
    gateways.registerBean("gateway", Gateway.class, () -> proxy);
    // When, then
    assertThatThrownBy(gateways::refresh)
        .rootCause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Gateway.send")
        .hasMessageContaining("without a class");
  }

  @Test
  void interruptWhileWaitingIsKeptAndLeavesTheQueue() throws InterruptedException {
    // Given
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    AtomicReference<Boolean> kept = new AtomicReference<>();
    LockHandle held = other.lock("orders/interrupted");
    Thread caller =
        new Thread(
            () -> {
              try {
                warehouse.interrupted();
              } catch (LockkeeperException e) {
                thrown.set(e);
                kept.set(Thread.currentThread().isInterrupted());
              }
            });
    caller.start();
    Awaitility.await().until(() -> other.getLock("orders/interrupted").queue().size() == 1);
    // When
    caller.interrupt();
    caller.join();
    // Then
    assertThat(thrown.get()).hasMessageContaining("interrupted while waiting");
    assertThat(kept.get()).isTrue();
    Awaitility.await().until(() -> other.getLock("orders/interrupted").queue().isEmpty());
    held.close();
  }
}
