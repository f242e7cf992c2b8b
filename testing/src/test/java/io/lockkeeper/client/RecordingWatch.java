package io.lockkeeper.client;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Writes down what a watch shows. */
final class RecordingWatch implements WatchListener {

  private final List<String> events = new CopyOnWriteArrayList<>();

  List<String> events() {
    return List.copyOf(events);
  }

  @Override
  public void onSnapshot(LockInfo lock) {
    events.add("snapshot " + lock.name() + " held by " + lock.holders().get(0).holder());
  }

  @Override
  public void onSnapshotEnd() {
    events.add("end");
  }

  @Override
  public void onChange(LockChange change) {
    events.add(change.cause() + " " + change.name());
  }

  @Override
  public void onGap(String reason) {
    events.add("gap");
  }

  @Override
  public void onFailed(LockkeeperException why) {
    events.add("failed " + why.getMessage());
  }
}
