package io.lockkeeper.client;

import com.google.protobuf.Duration;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ReleaseRequested;
import java.util.Optional;

/**
 * What a holder has been warned of, so that it is not told again what a server repeats after a
 * resume, and is told when a warning of one server is none of the next. On the client's loop only.
 */
final class Warnings {

  private Optional<ReleaseRequested> wish = Optional.empty();
  private boolean mayRepeatWish;
  private boolean inJeopardy;
  private boolean mayBeSafe;

  /** A new stream is open, at whichever server. */
  void onOpened() {
    mayRepeatWish = true;
    mayBeSafe = inJeopardy;
  }

  /** Returns whether the event is to be told. */
  boolean isNews(AcquireResponse event) {
    if (event.hasReleaseRequested()) {
      return isNewWish(event.getReleaseRequested());
    }
    boolean news = !(event.hasJeopardy() && inJeopardy);
    inJeopardy = event.hasJeopardy();
    mayBeSafe = false;
    return news;
  }

  private boolean isNewWish(ReleaseRequested now) {
    ReleaseRequested.Builder lasting = now.toBuilder();
    if (now.hasDeadline()) {
      lasting.setDeadline(Duration.getDefaultInstance());
    }
    boolean repeated = mayRepeatWish && wish.filter(lasting.build()::equals).isPresent();
    wish = Optional.of(lasting.build());
    return !repeated;
  }

  /**
   * The server has answered something that was asked of it after all that it had to tell at the
   * resume. Returns whether that means that a jeopardy told by another server is over.
   */
  boolean isSafeAgain() {
    boolean safe = mayBeSafe;
    mayBeSafe = false;
    inJeopardy &= !safe;
    return safe;
  }
}
