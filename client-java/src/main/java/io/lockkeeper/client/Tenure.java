package io.lockkeeper.client;

import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.SessionRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** What one acquisition holds, from the grant to its release or loss. On the client's loop only. */
final class Tenure {

  private final Acquisition acquisition;
  private final LockRequest request;
  private final Surroundings client;
  private final Link link;
  private final HolderCalls calls;
  private final HoldLimit limit;
  private final Warnings warnings = new Warnings();
  private List<Tenure> nested = List.of();
  private List<Tenure> around = List.of();
  private Optional<Hold> hold = Optional.empty();
  private boolean confirmed = true;
  private long awaySinceNanos;

  Tenure(Acquisition acquisition, Surroundings client, Link link) {
    this.acquisition = acquisition;
    this.request = acquisition.request();
    this.client = client;
    this.link = link;
    this.calls = new HolderCalls(client, link);
    this.limit = new HoldLimit(request.maxHold(), client);
  }

  /** The locks are granted. */
  Hold begin(Granted granted) {
    List<LockGrant> grants = Protos.toGrants(granted);
    // Only an owner adds levels to a hold.
    around = request.owner().isEmpty() ? List.of() : link.limited().around(grants);
    List<Hold> outer =
        around.isEmpty()
            ? List.of()
            : around.stream().flatMap(tenure -> tenure.hold.stream()).toList();
    Hold granting =
        new Hold(
            grants,
            new Deadline(link.validity(), limit.fromNow(), outer, client.loop()::nanos),
            new HoldKeeper(acquisition, client));
    hold = Optional.of(granting);
    confirmed = true;
    calls.resume();
    around.forEach(tenure -> tenure.nest(this));
    if (request.maxHold().isPresent()) {
      link.limited().add(this, grants);
      limit.start(this::onNearLimit, this::onLimit);
    }
    if (request.listener() != LockListener.NONE) {
      client.callbacks().run(() -> request.listener().onGranted(granting));
    }
    return granting;
  }

  private void nest(Tenure inner) {
    if (nested.isEmpty()) {
      nested = new ArrayList<>();
    }
    nested.add(inner);
  }

  /** Returns what tells a server that does not know it that the locks are held. */
  SessionRequest repeated() {
    return Requests.hold(
        request,
        acquisition.requestId(),
        client.settings().holder(),
        tokens(hold.map(Hold::grants).orElse(List.of())),
        limit.left(hold.map(Hold::limitNanos).orElse(OptionalLong.empty())));
  }

  /** Returns whether a server grants what is held. */
  boolean isOf(Granted granted) {
    return hold.filter(mine -> tokens(mine.grants()).equals(tokens(Protos.toGrants(granted))))
        .isPresent();
  }

  /** Returns the tokens in the order of the request's locks. */
  private List<Long> tokens(List<LockGrant> grants) {
    Map<String, Long> byName =
        grants.stream()
            .collect(Collectors.toMap(LockGrant::name, LockGrant::fencingToken, Math::max));
    return request.locks().stream()
        .flatMap(lock -> Optional.ofNullable(byName.get(lock.name())).stream())
        .toList();
  }

  /** A new stream is open, whose server has not said yet that the locks are held. */
  void onOpened(long sinceNanos) {
    if (confirmed) {
      awaySinceNanos = sinceNanos;
    }
    confirmed = false;
    warnings.onOpened();
    calls.pause();
  }

  /** Returns whether the server of the present stream has said that the locks are held. */
  boolean isConfirmed() {
    return confirmed;
  }

  /** A server says that the locks are held still. */
  void onConfirmed() {
    if (!confirmed) {
      confirmed = true;
      calls.resume();
      Duration away = Duration.ofNanos(client.loop().nanos() - awaySinceNanos);
      tell(mine -> request.listener().onResumed(mine, away));
    }
  }

  /** Returns a token of the hold; zero: there is none. */
  long fencingToken() {
    return hold.map(Hold::fencingToken).orElse(0L);
  }

  /** The caller wants it no more. */
  void giveUp() {
    hold.ifPresent(Hold::beginRelease);
  }

  private void onNearLimit() {
    long remainingNanos = limit.warningNanos();
    onAboutToExpire(remainingNanos);
    nested.forEach(tenure -> tenure.onAboutToExpire(remainingNanos));
  }

  private void onLimit() {
    onLost(LossReason.MAX_HOLD);
    List.copyOf(nested).forEach(tenure -> tenure.onLost(LossReason.MAX_HOLD));
  }

  /** The release is on its way. Until it is confirmed, the limit is that of what is nested too. */
  void onReleasing() {
    calls.end(this::released);
  }

  /** Nothing of it is left. */
  void onEnded(boolean released) {
    limit.stop();
    around.forEach(tenure -> tenure.nested.remove(this));
    if (released) {
      hold.ifPresent(Hold::onConfirmed);
    }
    if (request.maxHold().isPresent()) {
      hold.ifPresent(mine -> link.limited().remove(this, mine.grants()));
    }
  }

  /** The locks are not held any more. */
  void onLost(LossReason reason) {
    hold.filter(mine -> mine.lose(reason))
        .ifPresent(
            mine -> client.callbacks().run(() -> News.lost(request.listener(), mine, reason)));
    calls.end(() -> new LockLostException(request.names(), reason));
  }

  /** The server has answered a keep-alive: it has nothing more to tell of a resume. */
  void onKeptAlive(long validForNanos) {
    if (warnings.isSafeAgain()) {
      Duration validFor = Duration.ofNanos(validForNanos);
      tell(mine -> request.listener().onSafe(mine, validFor));
    }
  }

  /** The server has news for the holder. */
  void onNews(AcquireResponse event) {
    if (warnings.isNews(event)) {
      tell(mine -> News.tell(request.listener(), mine, event));
    }
  }

  /** The client's own deadline is near. */
  void onAboutToExpire(long remainingNanos) {
    Duration remaining = Duration.ofNanos(remainingNanos);
    tell(mine -> request.listener().onAboutToExpire(mine, remaining));
  }

  private void tell(Consumer<Hold> news) {
    hold.filter(Hold::isHeld)
        .ifPresent(mine -> client.callbacks().runIfRoom(() -> news.accept(mine)));
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
