package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class EventRelayTest implements HandleListener {

  private static final String PREFIX = "/lk/locks/a/_c_1-lock-";
  private static final String OURS = PREFIX + "0000000001";
  private static final String THEIRS = "/lk/locks/a/_c_2-lock-0000000002";
  private static final String OTHERS = "/lk/locks/a/_c_3-lock-0000000003";
  private static final String LATER = "/lk/locks/a/_c_4-lock-0000000004";
  private static final List<String> WRITTEN = List.of(PREFIX);

  private final StoreThread thread = new StoreThread();
  private final OwnWrites own = new OwnWrites();
  private final EventRelay relay = new EventRelay(thread, this, own);
  private final List<String> told = new CopyOnWriteArrayList<>();

  EventRelayTest() {
    thread.use(relay);
  }

  @AfterEach
  void stop() throws Exception {
    thread.stop(1_000);
  }

  @Override
  public void onConnected() {
    told.add("connected");
  }

  @Override
  public void onDisconnected() {
    told.add("disconnected");
  }

  @Override
  public void onExpired() {
    told.add("expired");
  }

  @Override
  public void onNode(WatchedEvent event) {
    told.add(event.getPath());
  }

  /** A write leaves; returns what is called with its answer. */
  private Runnable write(Runnable answered) {
    MultiCallback onReply =
        own.leaving(WRITTEN, (rc, path, context, results) -> thread.execute(answered));
    return () -> onReply.processResult(0, null, null, List.of());
  }

  private void happen(String path) {
    relay.process(new WatchedEvent(EventType.NodeCreated, KeeperState.SyncConnected, path));
  }

  @Test
  void whatOthersDoIsToldAtOnce() {
    var unused = write(() -> {});
    happen(THEIRS);
    assertThat(told).containsExactly(THEIRS);
  }

  @Test
  void whatOurWritesUnderWayDoIsToldJustAheadOfTheNextTask() {
    // Given
    Runnable answer = write(() -> told.add("answer"));
    happen(OURS);
    assertThat(told).isEmpty();
    // When
    answer.run();
    // Then
    assertThat(told).containsExactly(OURS, "answer");
  }

  @Test
  void orderOfEventsIsKept() {
    var unused = write(() -> {});
    happen(OURS);
    happen(THEIRS);
    assertThat(told).containsExactly(OURS, THEIRS);
  }

  @Test
  void eventsAndTasksKeepTheirOrderWhileOthersAreAtWork() {
    // Given
    Runnable answer = write(() -> told.add("answer"));
    // When: this thread is at work, and so runs all of it afterwards
    thread.execute(
        () -> {
          happen(THEIRS);
          thread.execute(() -> told.add("listing"));
          happen(OURS);
          happen(OTHERS);
          answer.run();
          happen(LATER);
        });
    // Then
    assertThat(told).containsExactly(THEIRS, "listing", OURS, OTHERS, "answer", LATER);
  }

  @Test
  void whatComesAfterTheAnswerIsToldAtOnce() {
    write(() -> {}).run();
    happen(OURS);
    assertThat(told).containsExactly(OURS);
  }

  @Test
  void connectionThatIsLostTellsWhatCameBefore() {
    var unused = write(() -> {});
    happen(OURS);
    relay.process(new WatchedEvent(EventType.None, KeeperState.Disconnected, null));
    assertThat(told).containsExactly(OURS, "disconnected");
  }

  @Test
  void silencedRelayDropsWhatWaits() {
    var unused = write(() -> {});
    happen(OURS);
    relay.silence();
    thread.execute(() -> {});
    assertThat(told).isEmpty();
  }

  /** An event that comes while its answer does must not wait for a task that never comes. */
  @Test
  void noEventIsLeftBehindHoweverItMeetsItsAnswer() throws Exception {
    // Given
    int rounds = 200_000;
    AtomicInteger heard = new AtomicInteger();
    EventRelay counted = new EventRelay(thread, new Counter(heard), own);
    thread.use(counted);
    AtomicReference<Runnable> answer = new AtomicReference<>(() -> {});
    AtomicInteger begun = new AtomicInteger();
    AtomicInteger answered = new AtomicInteger();
    Thread answers =
        new Thread(
            () -> {
              for (int i = 1; i <= rounds; i++) {
                await(begun, i);
                answer.get().run();
                answered.set(i);
              }
            });
    answers.setDaemon(true);
    answers.start();
    for (int i = 1; i <= rounds; i++) {
      answer.set(write(() -> {}));
      // When
      begun.set(i);
      counted.process(new WatchedEvent(EventType.NodeCreated, KeeperState.SyncConnected, OURS));
      await(answered, i);
      // Then: whoever came second has run what the other handed in
      assertThat(heard).hasValue(i);
    }
  }

  // Whoever slept would never meet the other.
  @SuppressWarnings("ThreadPriorityCheck")
  private static void await(AtomicInteger counter, int value) {
    while (counter.get() < value) {
      Thread.yield();
    }
  }

  private record Counter(AtomicInteger heard) implements HandleListener {
    @Override
    public void onConnected() {}

    @Override
    public void onDisconnected() {}

    @Override
    public void onExpired() {}

    @Override
    public void onNode(WatchedEvent event) {
      heard.incrementAndGet();
    }
  }
}
