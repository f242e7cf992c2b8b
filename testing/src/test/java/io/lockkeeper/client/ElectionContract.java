package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** One leader among candidates, and those who want to know who it is. */
public abstract class ElectionContract extends Contract {

  private static Optional<String> leader(LeaderElection election) {
    return election.leader().toCompletableFuture().join().map(Leader::value);
  }

  @Test
  void candidateThatIsAloneLeadsAndIsKnownToAll() throws InterruptedException {
    // Given
    LeaderElection election = client("a").asElection(lock);
    LeaderElection elsewhere = client("b").asElection(lock);
    // When
    Optional<Leader> before = elsewhere.leader().toCompletableFuture().join();
    try (Leadership leadership = election.campaign("10.0.0.1:80")) {
      Optional<Leader> during = elsewhere.leader().toCompletableFuture().join();
      // Then
      assertThat(before).isEmpty();
      assertThat(leadership.isValid()).isTrue();
      assertThat(during)
          .hasValueSatisfying(
              leader -> {
                assertThat(leader.value()).isEqualTo("10.0.0.1:80");
                assertThat(leader.holder()).isEqualTo("a");
                assertThat(leader.fencingToken()).isEqualTo(leadership.fencingToken());
              });
    }
    assertThat(leader(elsewhere)).isEmpty();
  }

  @Test
  void candidatesLeadInTheOrderInWhichTheyCame() {
    // Given
    LockkeeperClient observer = client("observer");
    List<String> order = new CopyOnWriteArrayList<>();
    List<CompletableFuture<Leadership>> candidates = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      String value = "candidate " + i;
      LeadershipListener listener =
          new LeadershipListener() {
            @Override
            public void onElected(Leadership leadership) {
              order.add(value);
            }
          };
      candidates.add(client(value).asElection(lock).campaignAsync(value, listener));
      int waiting = i;
      await()
          .until(
              () -> {
                LockInfo info = observer.getLock(lock);
                return info.holders().size() == 1 && info.queueLength() == waiting;
              });
    }
    // When
    for (CompletableFuture<Leadership> candidate : candidates) {
      candidate.join().resign();
    }
    // Then
    assertThat(order).containsExactly("candidate 0", "candidate 1", "candidate 2", "candidate 3");
  }

  @Test
  void observerHearsWhoLeadsAndWhatTheLeaderSaysOfItself() throws InterruptedException {
    // Given
    LeaderElection first = client("a").asElection(lock);
    LeaderElection second = client("b").asElection(lock);
    List<String> heard = new CopyOnWriteArrayList<>();
    LeaderObserver observer = leader -> heard.add(leader.map(Leader::value).orElse("nobody"));
    try (Watch watch = client("observer").asElection(lock).observe(observer)) {
      await().until(() -> heard.size() == 1);
      // When
      Leadership leading = first.campaign("one");
      await().until(() -> heard.contains("one"));
      CompletableFuture<Leadership> next = second.campaignAsync("two");
      leading.proclaim("one, draining").join();
      await().until(() -> heard.contains("one, draining"));
      leading.resign();
      next.join();
      await().until(() -> heard.contains("two"));
    }
    // Then: a leader may be told once more when its token is known
    assertThat(heard.stream().distinct()).containsExactly("nobody", "one", "one, draining", "two");
  }

  @Test
  void observerThatComesLaterHearsTheLeaderFirst() throws InterruptedException {
    // Given
    LeaderElection election = client("a").asElection(lock);
    election.campaign("one");
    List<String> heard = new CopyOnWriteArrayList<>();
    // When
    try (Watch watch = election.observe(l -> heard.add(l.map(Leader::value).orElse("nobody")))) {
      await().until(() -> !heard.isEmpty());
    }
    // Then
    assertThat(heard).containsExactly("one");
  }

  @Test
  void electionsWithNamesThatBeginAlikeAreApart() throws InterruptedException {
    // Given
    LockkeeperClient a = client("a");
    List<String> heard = new CopyOnWriteArrayList<>();
    try (Watch watch =
        a.asElection(lock).observe(l -> heard.add(l.map(Leader::value).orElse("nobody")))) {
      await().until(() -> heard.size() == 1);
      // When
      a.asElection(lock + "-other").campaign("another");
      a.asElection(lock).campaign("one");
      await().until(() -> heard.contains("one"));
    }
    // Then
    assertThat(heard).containsExactly("nobody", "one");
  }

  @Test
  void leaderThatIsDeposedIsToldAndTheNextLeads() throws InterruptedException {
    // Given
    LockkeeperClient b = client("b");
    List<String> told = new CopyOnWriteArrayList<>();
    LeadershipListener listener =
        new LeadershipListener() {
          @Override
          public void onElected(Leadership leadership) {
            told.add("elected " + leadership.isValid());
          }

          @Override
          public void onAskedToResign(Leadership leadership, ReleaseRequest request) {
            told.add("asked: " + request.reason());
          }

          @Override
          public void onLost(Leadership leadership, LossReason reason) {
            told.add("lost " + reason);
          }
        };
    Leadership leadership = client("a").asElection(lock).campaign("one", listener);
    CompletableFuture<Leadership> next = b.asElection(lock).campaignAsync("two");
    awaitQueue(b, lock, 1);
    // When
    b.requestRelease(lock, "too slow");
    await().until(() -> told.contains("asked: too slow"));
    b.forceRelease(lock, "still too slow");
    // Then
    assertThat(next).succeedsWithin(LONG);
    await().until(() -> told.contains("lost FORCED"));
    assertThat(told).containsExactly("elected true", "asked: too slow", "lost FORCED");
    assertThat(leadership.isValid()).isFalse();
    assertThatThrownBy(leadership::checkValid).isInstanceOf(LockLostException.class);
    assertThat(leadership.lost().toCompletableFuture().join()).isEqualTo(LossReason.FORCED);
    assertThat(leadership.resignAsync().join())
        .isEqualTo(new ReleaseResult(ReleaseResult.Outcome.LOST, 0));
  }
}
