package io.lockkeeper.client.testing;

import io.grpc.Status;
import io.lockkeeper.client.testing.FakeAcquisition.State;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.ChangeCause;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.ConfigureLockResponse;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.ForceReleaseResponse;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.LossReason;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.RequestReleaseResponse;
import io.lockkeeper.v1.UpdateMetadataRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What people and clients may do about locks that others hold or wait for. */
final class FakeInfluence {

  private static final int MAX_HOLDERS_TOLD = 16;
  private static final Duration MAX_GRACE = Duration.ofHours(1);

  private final FakeState state;

  FakeInfluence(FakeState state) {
    this.state = state;
  }

  /** Asks the holders of a lock to give way. */
  RequestReleaseResponse requestRelease(RequestReleaseRequest request) {
    FakeChecks.name("name", request.getName());
    FakeChecks.text("reason", request.getReason(), FakeChecks.MAX_REASON_BYTES);
    FakeChecks.text("requester", request.getRequester(), FakeChecks.MAX_PEOPLE_BYTES);
    ReleaseRequested.Builder asked =
        ReleaseRequested.newBuilder()
            .setName(request.getName())
            .setRequester(requester(request.getRequester()))
            .setReason(request.getReason());
    if (request.hasDeadline()) {
      FakeChecks.span("deadline", request.getDeadline(), Duration.ZERO, FakeChecks.WEEK);
      asked.setDeadline(request.getDeadline());
    }
    List<FakeEntry> holders = state.look(request.getName()).holders();
    holders.forEach(holder -> ask(holder, asked));
    return RequestReleaseResponse.newBuilder()
        .addAllHolders(FakeQueue.contenders(holders, MAX_HOLDERS_TOLD, state.loop.nanos()))
        .build();
  }

  private static String requester(String named) {
    return named.isEmpty() ? "in-process" : named;
  }

  private void ask(FakeEntry holder, ReleaseRequested.Builder asked) {
    if (holder.creator.state == State.HELD) {
      holder.creator.ask(asked.build(), state.loop.nanos());
    }
  }

  /** Takes a lock away from its holders, at once or after a grace. */
  ForceReleaseResponse forceRelease(ForceReleaseRequest request) {
    FakeChecks.name("name", request.getName());
    FakeChecks.text("reason", request.getReason(), FakeChecks.MAX_REASON_BYTES);
    if (request.getFencingToken() < 0) {
      throw FakeChecks.invalid("fencing_token", "must not be below zero");
    }
    if (request.hasGrace()) {
      FakeChecks.span("grace", request.getGrace(), Duration.ZERO, MAX_GRACE);
    }
    long token = request.getFencingToken();
    List<FakeEntry> holders =
        state.look(request.getName()).holders().stream()
            .filter(e -> token == 0 || token == e.token)
            .toList();
    if (holders.isEmpty()) {
      throw FakeChecks.failure(
          Status.NOT_FOUND, token == 0 ? "nobody holds the lock" : "nobody holds that token");
    }
    if (!request.hasGrace()) {
      force(holders, request.getReason());
      return ForceReleaseResponse.newBuilder().setReleased(holders.size()).build();
    }
    ReleaseRequested.Builder asked =
        ReleaseRequested.newBuilder()
            .setName(request.getName())
            .setRequester("an administrator")
            .setReason(request.getReason())
            .setDeadline(request.getGrace());
    holders.forEach(holder -> ask(holder, asked));
    state.loop.schedule(
        FakeTime.toNanos(request.getGrace()), () -> force(levelsOf(holders), request.getReason()));
    return ForceReleaseResponse.newBuilder().setAsked(holders.size()).build();
  }

  /** Returns what is at the place of these, which may have come there since. */
  private static List<FakeEntry> levelsOf(List<FakeEntry> holders) {
    return holders.stream()
        .flatMap(holder -> holder.queue.holders().stream().filter(holder::isBeside))
        .distinct()
        .toList();
  }

  private void force(List<FakeEntry> holders, String reason) {
    holders.forEach(holder -> state.turns.takeAway(holder, LossReason.LOSS_REASON_FORCED, reason));
  }

  /** A holder says for how much longer it needs its locks. */
  void answerRelease(FakeLease lease, AnswerReleaseRequest request) {
    FakeChecks.span("needs", request.getNeeds(), Duration.ZERO, FakeChecks.WEEK);
    FakeAcquisition holder = state.acquisition(lease, request.getRequestId());
    if (holder.state != State.HELD) {
      throw FakeChecks.failure(Status.FAILED_PRECONDITION, "the acquisition does not hold");
    }
    long at = state.loop.nanos() + FakeTime.toNanos(request.getNeeds());
    holder.entries.forEach(e -> e.releaseAtNanos = Optional.of(at));
    tellChanged(holder);
  }

  /** A client says something else of one of its acquisitions. */
  void updateMetadata(FakeLease lease, UpdateMetadataRequest request) {
    FakeChecks.metadata(request.getMetadataMap());
    FakeAcquisition acquisition = state.acquisition(lease, request.getRequestId());
    if (acquisition.state == State.ENDED) {
      throw FakeChecks.failure(Status.FAILED_PRECONDITION, "the acquisition has ended");
    }
    acquisition.entries.forEach(e -> e.metadata = request.getMetadataMap());
    tellChanged(acquisition);
  }

  private void tellChanged(FakeAcquisition acquisition) {
    for (FakeEntry entry : acquisition.entries) {
      state.feed.changed(ChangeCause.CHANGE_CAUSE_METADATA, entry);
      if (entry.held) {
        state.turns.tellPositions(entry.queue);
      }
    }
  }

  /** Sets the limit of a lock of permits, or takes the setting back. */
  ConfigureLockResponse configure(ConfigureLockRequest request) {
    FakeChecks.name("name", request.getName());
    FakeChecks.limit("limit", request.getLimit());
    FakeQueue queue = state.queue(request.getName());
    if (queue.isOfAnotherKindThan(LockMode.LOCK_MODE_PERMITS)) {
      throw FakeChecks.failure(
          Status.FAILED_PRECONDITION,
          queue.lock + " is in use as " + queue.kind() + ": it has no limit");
    }
    int previous = queue.limit();
    queue.configuredLimit = request.getLimit();
    state.feed.limitChanged(queue);
    if (queue.configuredLimit != 0) {
      refuseTooLarge(queue);
    }
    state.turns.advance(queue);
    state.turns.breakDeadlocks();
    return ConfigureLockResponse.newBuilder().setPreviousLimit(previous).build();
  }

  private void refuseTooLarge(FakeQueue queue) {
    int limit = queue.configuredLimit;
    queue.waiters().stream()
        .filter(e -> e.wanted.getPermits() > limit)
        .forEach(
            e ->
                state.turns.refuse(
                    e.creator,
                    NotAcquiredReason.NOT_ACQUIRED_REASON_LIMIT_TOO_SMALL,
                    FakeArrivals.limitTooSmall(e.wanted, limit)));
  }

  /** Takes a lock away as if its entries had been deleted in ZooKeeper. */
  void remove(String lock) {
    state
        .look(lock)
        .holders()
        .forEach(e -> state.turns.takeAway(e, LossReason.LOSS_REASON_REMOVED, ""));
  }

  /** Tells something to all who hold a lock. */
  void tellHolders(String lock, AcquireResponse event) {
    state.look(lock).holders().stream()
        .map(e -> e.creator)
        .filter(a -> a.state == FakeAcquisition.State.HELD)
        .toList()
        .forEach(a -> a.tell(event.toBuilder()));
  }
}
