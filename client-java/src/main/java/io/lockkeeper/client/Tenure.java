package io.lockkeeper.client;

import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.SessionRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** What one acquisition holds, from the grant to its release or loss. On the client's loop only. */
final class Tenure {

  private final Acquisition acquisition;
  private final LockRequest request;
  private final Surroundings around;
  private final Link link;
  private final HolderCalls calls;
  private final HoldLimit limit;
  private Optional<Hold> hold = Optional.empty();

  Tenure(Acquisition acquisition, Surroundings around, Link link) {
    this.acquisition = acquisition;
    this.request = acquisition.request();
    this.around = around;
    this.link = link;
    this.calls = new HolderCalls(around, link);
    this.limit = new HoldLimit(request.maxHold(), around);
  }

  /** The locks are granted. */
  Hold begin(Granted granted) {
    Hold granting =
        new Hold(
            Protos.toGrants(granted),
            new Deadline(link.validity(), limit.fromNow(), around.loop()::nanos),
            new HoldKeeper(acquisition, around));
    hold = Optional.of(granting);
    limit.start(() -> onAboutToExpire(limit.warningNanos()), () -> onLost(LossReason.MAX_HOLD));
    around.callbacks().run(() -> request.listener().onGranted(granting));
    return granting;
  }

  /** Returns a token of the hold; zero: there is none. */
  long fencingToken() {
    return hold.map(Hold::fencingToken).orElse(0L);
  }

  /** The caller wants it no more. */
  void giveUp() {
    hold.ifPresent(Hold::beginRelease);
  }

  /** The release is on its way. */
  void onReleasing() {
    limit.stop();
    calls.end(released());
  }

  /** The locks are not held any more. */
  void onLost(LossReason reason) {
    limit.stop();
    hold.filter(mine -> mine.lose(reason))
        .ifPresent(
            mine -> around.callbacks().run(() -> News.lost(request.listener(), mine, reason)));
    calls.end(new LockLostException(request.names(), reason));
  }

  /** The server has news for the holder. */
  void onNews(AcquireResponse event) {
    tell(mine -> News.tell(request.listener(), mine, event));
  }

  /** The client's own deadline is near. */
  void onAboutToExpire(long remainingNanos) {
    Duration remaining = Duration.ofNanos(remainingNanos);
    tell(mine -> request.listener().onAboutToExpire(mine, remaining));
  }

  private void tell(Consumer<Hold> news) {
    hold.filter(Hold::isHeld)
        .ifPresent(mine -> around.callbacks().runIfRoom(() -> news.accept(mine)));
  }

  /** The holder has something to say to the server. */
  void ask(SessionRequest message, CompletableFuture<Void> answer) {
    if (hold.filter(Hold::isHeld).isPresent()) {
      calls.add(message, answer);
    } else {
      answer.completeExceptionally(released());
    }
  }

  /** Returns what has been asked of the server and not been answered. */
  HolderCalls calls() {
    return calls;
  }

  private IllegalStateException released() {
    return new IllegalStateException("lock \"" + request.names() + "\" is not held any more");
  }
}
