package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.Status.Code;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.coordinator.api.WatchedChange;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.core.api.LockChange;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MutexKind;
import io.lockkeeper.server.rpc.wire.Contenders;
import io.lockkeeper.server.rpc.wire.Messages;
import io.lockkeeper.server.rpc.wire.WatchEvents;
import io.lockkeeper.server.testing.FakeCoordinator.Watched;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WatchStreamTest {

  @AutoClose private final InProcess server = new InProcess();
  private final Received<WatchRequest, WatchResponse> client = Received.all();

  private Watched watch(Received<WatchRequest, WatchResponse> receiver) {
    server.locks().watch(WatchRequest.newBuilder().setPrefix("orders/").build(), receiver);
    return server.coordinator.watches.next();
  }

  private static LockChange change(LockChange.Cause cause) {
    return new LockChange(
        101,
        ViewSamples.LOCK,
        cause,
        Optional.of(ViewSamples.holder()),
        List.of(ViewSamples.holder()),
        3,
        1);
  }

  private static WatchedChange watched(LockChange.Cause cause) {
    return new WatchedChange(change(cause), 1);
  }

  @Test
  void changeIsTranslatedOnceForAllItsWatchers() {
    // Given
    WatchedChange change = watched(LockChange.Cause.GRANTED);
    // When
    WatchResponse first = WatchEvents.change(change, true);
    // Then
    assertThat(WatchEvents.change(change, true)).isSameAs(first);
  }

  @Test
  void namesAndRevisionReachTheCoordinator() {
    // When
    server
        .locks()
        .watch(
            WatchRequest.newBuilder().addNames("a").addNames("b/c").setStartRevision(17).build(),
            client);
    Watched watched = server.coordinator.watches.next();
    // Then
    assertThat(watched.filter())
        .isEqualTo(new WatchFilter(Set.of(new LockName("a"), new LockName("b/c")), ""));
    assertThat(watched.startRevision()).isEqualTo(17);
  }

  @Test
  void snapshotItsEndChangesAndGapsAreToldInOrder() {
    // Given
    Watched watched = watch(client);
    // When
    watched.listener().onSnapshot(ViewSamples.lock("orders/42"));
    watched.listener().onSnapshotEnd(100);
    watched.listener().onChange(watched(LockChange.Cause.GRANTED));
    watched.listener().onGap("reconnected");
    // Then
    WatchResponse snapshot = client.next();
    assertThat(snapshot.getRevision()).isZero();
    assertThat(snapshot.getSnapshot().toString())
        .contains("orders/42", "revision: 99", "queue_length: 1", "fencing_token: 77", "pod");
    WatchResponse end = client.next();
    assertThat(end.hasSnapshotEnd()).isTrue();
    assertThat(end.getRevision()).isEqualTo(100);
    WatchResponse change = client.next();
    assertThat(change.getRevision()).isEqualTo(101);
    assertThat(change.getChange().toString())
        .contains("CHANGE_CAUSE_GRANTED", "contender", "queue_length: 3", "coalesced: 1");
    WatchResponse gap = client.next();
    assertThat(gap.getRevision()).isZero();
    assertThat(gap.getGap().getReason()).isEqualTo("reconnected");
  }

  @Test
  void heartbeatOfAQuietWatchHasTheRevisionToResumeFrom() {
    // Given
    Watched watched = watch(client);
    watched.listener().onSnapshotEnd(100);
    assertThat(client.next().hasSnapshotEnd()).isTrue();
    // When
    server.passQuietTime();
    // Then
    WatchResponse heartbeat = client.next();
    assertThat(heartbeat.hasHeartbeat()).isTrue();
    assertThat(heartbeat.getRevision()).isEqualTo(100);
  }

  @Test
  void heartbeatOfAResumedQuietWatchHasTheRevisionThatItWasResumedFrom() {
    // Given
    server.locks().watch(WatchRequest.newBuilder().setStartRevision(17).build(), client);
    server.coordinator.watches.next();
    // When
    server.passQuietTime();
    // Then
    WatchResponse heartbeat = client.next();
    assertThat(heartbeat.hasHeartbeat()).isTrue();
    assertThat(heartbeat.getRevision()).isEqualTo(17);
  }

  @ParameterizedTest
  @EnumSource(LockChange.Cause.class)
  void everyCauseHasItsName(LockChange.Cause cause) {
    // When
    var told = Messages.toLockChange(change(cause), true);
    // Then
    String name = cause == LockChange.Cause.SEVERAL ? "UNSPECIFIED" : cause.name();
    assertThat(told.getCause().name()).isEqualTo("CHANGE_CAUSE_" + name);
  }

  @Test
  void tokenOfAWaiterIsNeverTold() {
    assertThat(Contenders.toMessage(ViewSamples.waiter(MutexKind.EXCLUSIVE)).getFencingToken())
        .isZero();
  }

  @Test
  void slowWatcherIsNotReadyUntilItReads() {
    // Given
    Received<WatchRequest, WatchResponse> slow = Received.nothing();
    Watched watched = watch(slow);
    int sent = 0;
    while (watched.listener().isReady() && sent < 1_000) {
      watched.listener().onChange(watched(LockChange.Cause.QUEUED));
      sent++;
    }
    assertThat(watched.listener().isReady()).isFalse();
    int told = watched.ready().size();
    // When
    slow.read(1_000);
    // Then
    await().until(() -> watched.ready().size() > told);
    assertThat(watched.listener().isReady()).isTrue();
    assertThat(sent).isLessThan(1_000);
  }

  @Test
  void watchThatIsRefusedEndsWithItsStatus() {
    // Given
    Watched watched = watch(client);
    // When
    watched.listener().onRefused(ViewSamples.refused(Reason.TOO_MANY));
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
  }

  @Test
  void clientThatHangsUpEndsTheWatch() {
    // Given
    Watched watched = watch(client);
    // When
    client.cancel();
    // Then
    assertThat(watched.closed().next()).isEqualTo("closed");
    watched.listener().onChange(watched(LockChange.Cause.RELEASED));
    await().until(() -> server.services.openStreams() == 0);
  }

  @Test
  void endpointThatStopsEndsTheWatch() {
    // Given
    Watched watched = watch(client);
    // When
    server.services.goAway("stopping");
    // Then
    assertThat(client.end().getCode()).isEqualTo(Code.UNAVAILABLE);
    assertThat(watched.closed().next()).isEqualTo("closed");
  }
}
