package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.coordinator.api.CoordinatorObserver;
import io.lockkeeper.server.coordinator.api.CoordinatorSettings;
import io.lockkeeper.server.coordinator.api.RefusedException;
import io.lockkeeper.server.coordinator.api.VisibleLocks;
import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.LockView;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.core.lock.SessionKey;
import io.lockkeeper.server.memory.InMemoryLockStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LoopCoordinatorTest {

  private static final LockName LOCK = new LockName("orders/42");

  private final InMemoryLockStore store = new InMemoryLockStore();
  private final LoopCoordinator coordinator =
      new LoopCoordinator(
          store,
          CoordinatorSettings.defaults(),
          CoordinatorObserver.NONE,
          why -> {
            throw new AssertionError("the coordinator cannot go on: " + why);
          });

  @BeforeEach
  void start() {
    coordinator.start();
    await().until(() -> coordinator.status().serving());
  }

  @AfterEach
  void stop() throws InterruptedException {
    coordinator.stop(Duration.ofMillis(100));
  }

  private static AcquireCommand want(
      Optional<LeaseId> lease, String requestId, Optional<Duration> wait) {
    return new AcquireCommand(
        List.of(new AcquireCommand.WantedLock(LOCK, MutexKind.EXCLUSIVE)),
        lease,
        "",
        requestId,
        wait,
        "tester",
        Map.of("why", "test"),
        Optional.empty(),
        Optional.empty(),
        Duration.ZERO,
        false,
        List.of(),
        false);
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(60, TimeUnit.SECONDS);
  }

  @Test
  void releaseIsAnsweredOnlyWhenTheDeletionIsCertain() throws Exception {
    // Given
    LeaseId lease =
        get(coordinator.openLease(Duration.ofSeconds(15), "t", Optional.empty())).lease().lease();
    Heard heard = new Heard();
    coordinator.acquire(want(Optional.of(lease), "a", Optional.empty()), heard);
    heard.hear(Notice.Granted.class);
    store.hold();
    // When
    CompletableFuture<Answer.ReleaseDone> release = coordinator.release(lease, "a", 0);
    await().until(() -> store.heldBack() > 0);
    boolean answeredBefore = release.isDone();
    store.flow();
    // Then
    assertThat(get(release).outcome()).isEqualTo(Answer.ReleaseOutcome.RELEASED);
    assertThat(answeredBefore).isFalse();
    assertThat(heard.hear(Notice.Released.class)).isNotNull();
    assertThat(get(coordinator.release(lease, "a", 0)).outcome())
        .isEqualTo(Answer.ReleaseOutcome.ALREADY_RELEASED);
  }

  @Test
  void attachingNeedsTheSecret() throws Exception {
    // Given
    LeaseId lease =
        get(coordinator.openLease(Duration.ofSeconds(15), "t", Optional.empty())).lease().lease();
    // When
    CompletableFuture<Answer.LeaseAttached> attached =
        coordinator.attach(lease, "guess", new Heard()).attached();
    // Then
    assertThatThrownBy(attached::join)
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOfSatisfying(
            RefusedException.class,
            e -> assertThat(e.failure().reason()).isEqualTo(Failure.Reason.WRONG_SECRET));
    await().until(() -> coordinator.status().streams() == 0);
  }

  @Test
  void viewOfAForeignEntryShowsWhatItsDataSays() throws Exception {
    // Given
    EntryDetails details = EntryDetails.foreign("192.0.2.7", Optional.empty());
    store.addForeign(LOCK, "_c_00000000-0000-0000-0000-000000000001-lock-0000000000", details);
    // When
    LockView view = get(coordinator.getLock(LOCK, 10));
    // Then
    assertThat(view.holders()).extracting("holder").containsExactly("192.0.2.7");
    assertThat(view.holders()).extracting("leaseTag").containsExactly("");
  }

  @Test
  void thousandsOfHiddenNamesAreSkippedInOnePage() throws Exception {
    // Given
    for (int i = 0; i <= 10_000; i++) {
      store.addForeign(
          new LockName("hidden/" + i),
          "_c_00000000-0000-0000-0000-000000000001-lock-0000000000",
          EntryDetails.foreign("192.0.2.7", Optional.empty()));
    }
    LeaseId lease =
        get(coordinator.openLease(Duration.ofSeconds(15), "t", Optional.empty())).lease().lease();
    Heard heard = new Heard();
    coordinator.acquire(want(Optional.of(lease), "a", Optional.empty()), heard);
    heard.hear(Notice.Granted.class);
    VisibleLocks orders =
        from -> Optional.of(from).filter(name -> name.startsWith("o")).or(() -> Optional.of("o"));
    // When
    Coordinator.LockPage page = get(coordinator.listLocks("", Optional.empty(), 10, orders));
    // Then
    assertThat(page.locks()).extracting(LockView::lock).containsExactly(LOCK);
    assertThat(page.last()).isEmpty();
  }

  @Test
  void namesThatAPolicyShowsOneByOneAmongHiddenOnesComeInSeveralPages() throws Exception {
    // Given: after each hidden name a name that is visible, of which two are in use
    List<String> used =
        new ArrayList<>(IntStream.range(0, 3_000).mapToObj(i -> "hidden/" + i).toList());
    used.addAll(List.of("hidden/1!", "hidden/2!"));
    for (String name : used) {
      store.addForeign(
          new LockName(name),
          "_c_00000000-0000-0000-0000-000000000001-lock-0000000000",
          EntryDetails.foreign("192.0.2.7", Optional.empty()));
    }
    VisibleLocks visible = from -> Optional.of(from.endsWith("!") ? from : from + "!");
    // When
    List<String> found = new ArrayList<>();
    List<Optional<LockName>> tokens = new ArrayList<>();
    tokens.add(Optional.empty());
    do {
      Optional<LockName> after = tokens.get(tokens.size() - 1);
      Coordinator.LockPage page = get(coordinator.listLocks("", after, 10, visible));
      page.locks().forEach(lock -> found.add(lock.lock().value()));
      tokens.add(page.last());
    } while (tokens.get(tokens.size() - 1).isPresent());
    // Then
    assertThat(found).containsExactly("hidden/1!", "hidden/2!");
    assertThat(tokens).hasSize(5);
    assertThat(tokens.subList(1, 4))
        .allSatisfy(token -> assertThat(token.orElseThrow().value()).endsWith("!"));
  }

  @Test
  void queriesAreRefusedWhileTheMirrorIsStale() {
    // Given
    store.tell(new StoreEvent.MirrorStale());
    // When
    CompletableFuture<LockView> view = coordinator.getLock(LOCK, 10);
    // Then
    assertThatThrownBy(view::join).hasMessageContaining("being rebuilt");
  }

  @Test
  void endedSessionTakesItsLeasesAndTellsTheHolders() throws Exception {
    // Given
    Coordinator.OpenedLease opened =
        get(coordinator.openLease(Duration.ofSeconds(15), "t", Optional.empty()));
    Heard heard = new Heard();
    Coordinator.Attachment attachment =
        coordinator.attach(opened.lease().lease(), opened.secret(), heard);
    attachment.acquire(want(Optional.empty(), "a", Optional.empty()));
    heard.hear(Notice.Granted.class);
    // When
    store.tell(new SessionEvent.SessionEnded(new SessionKey(1), false));
    // Then
    assertThat(heard.hear(Notice.Lost.class).reason()).isEqualTo(Notice.LossReason.SESSION_LOST);
    await().until(() -> heard.ends.equals(List.of(LeaseEnd.SESSION_LOST)));
    assertThat(get(coordinator.keepAlive(opened.lease().lease())))
        .isEqualTo(new Answer.LeaseGone(LeaseEnd.SESSION_LOST));
  }
}
