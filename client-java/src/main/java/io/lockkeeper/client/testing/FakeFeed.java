package io.lockkeeper.client.testing;

import io.lockkeeper.v1.ChangeCause;
import io.lockkeeper.v1.Gap;
import io.lockkeeper.v1.LockChange;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.SnapshotEnd;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;

/** What those who look at locks are shown. */
final class FakeFeed {

  private static final int HISTORY = 1_000;

  private final FakeState state;
  private final Set<Viewer> viewers = new LinkedHashSet<>();
  private final ArrayDeque<WatchResponse> history = new ArrayDeque<>();

  FakeFeed(FakeState state) {
    this.state = state;
  }

  /** Somebody who watches. */
  private record Viewer(WatchRequest request, Consumer<WatchResponse> to) {
    boolean sees(String lock) {
      return request.getNamesCount() == 0
          ? lock.startsWith(request.getPrefix())
          : request.getNamesList().contains(lock);
    }
  }

  /** Begins a watch; what is returned ends it. */
  Runnable watch(WatchRequest request, Consumer<WatchResponse> to) {
    Viewer viewer = new Viewer(request, to);
    if (request.getStartRevision() == 0) {
      snapshot(viewer);
    } else if (canResume(request.getStartRevision())) {
      history.stream()
          .filter(e -> e.getRevision() > request.getStartRevision())
          .filter(e -> viewer.sees(e.getChange().getName()))
          .forEach(to);
    } else {
      to.accept(event().setGap(Gap.newBuilder().setReason("the revision is too old")).build());
      snapshot(viewer);
    }
    viewers.add(viewer);
    return () -> viewers.remove(viewer);
  }

  private boolean canResume(long revision) {
    boolean complete = history.size() < HISTORY || history.element().getRevision() <= revision;
    return complete && revision <= state.zxid();
  }

  private void snapshot(Viewer viewer) {
    state.inUse("").stream()
        .filter(queue -> viewer.sees(queue.lock))
        .forEach(queue -> viewer.to().accept(event().setSnapshot(view(queue, 0)).build()));
    viewer.to().accept(event().setSnapshotEnd(SnapshotEnd.getDefaultInstance()).build());
  }

  /** Tells all who watch the lock what happened to one of its contenders. */
  void changed(ChangeCause cause, FakeEntry entry) {
    publish(
        entry.queue,
        change(cause, entry.queue).setContender(entry.toContender(state.loop.nanos())));
  }

  /** Tells all who watch the lock that its limit has changed. */
  void limitChanged(FakeQueue queue) {
    publish(queue, change(ChangeCause.CHANGE_CAUSE_LIMIT, queue));
  }

  private LockChange.Builder change(ChangeCause cause, FakeQueue queue) {
    LockState now = view(queue, 0);
    return LockChange.newBuilder()
        .setName(queue.lock)
        .setCause(cause)
        .addAllHolders(now.getHoldersList())
        .setQueueLength(now.getQueueLength())
        .setCoalesced(1);
  }

  private void publish(FakeQueue queue, LockChange.Builder what) {
    state.nextZxid();
    WatchResponse change = event().setChange(what).build();
    history.add(change);
    if (history.size() > HISTORY) {
      history.remove();
    }
    viewers.stream().filter(v -> v.sees(queue.lock)).toList().forEach(v -> v.to().accept(change));
  }

  private WatchResponse.Builder event() {
    return WatchResponse.newBuilder().setRevision(state.zxid());
  }

  /** Returns one lock with up to {@code queueLimit} of those who wait. */
  LockState view(FakeQueue queue, int queueLimit) {
    return queue.view(queueLimit, state.loop.nanos(), state.zxid());
  }
}
