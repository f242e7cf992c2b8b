package io.lockkeeper.client.examples;

import io.lockkeeper.client.LeaderElection;
import io.lockkeeper.client.Leadership;
import io.lockkeeper.client.LeadershipListener;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.ReleaseRequest;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Leads while it is elected, stops in time when it is not, and steps down when it is asked to. */
final class LeaderWork implements LeadershipListener {

  private final LeaderElection election;
  private final String address;
  private CompletableFuture<Leadership> candidacy = new CompletableFuture<>();
  private volatile Optional<Leadership> leadership = Optional.empty();

  LeaderWork(LockkeeperClient client, String address) {
    this.election = client.asElection("leader");
    this.address = address;
  }

  /** Becomes a candidate; {@link #onElected} says when it is this one's turn. */
  void campaign() {
    candidacy = election.campaignAsync(address, this);
  }

  /** To be asked before every step of the work, rather than once. */
  boolean isLeading() {
    return leadership.filter(Leadership::isValid).isPresent();
  }

  /** Leaves the queue, or the throne. */
  void resign() {
    candidacy.cancel(true);
    leadership.ifPresent(Leadership::resign);
  }

  @Override
  public void onElected(Leadership elected) {
    leadership = Optional.of(elected);
  }

  @Override
  public void onAskedToResign(Leadership elected, ReleaseRequest request) {
    elected.resign(); // Where callbacks run on a thread of their own, this may wait.
  }

  @Override
  public void onLost(Leadership elected, LossReason reason) {
    leadership = Optional.empty();
  }
}
