package io.lockkeeper.cli.run;

import com.google.gson.JsonObject;
import io.lockkeeper.cli.shell.ClosedPipe;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Terminal;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.client.LockGrant;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.ReleaseRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Holds locks until a signal comes, the input ends or nobody reads the output any more, and prints
 * what happens to them.
 */
final class HoldUntilEnd implements Holding {

  private final Waiting.Words words;
  private final Optional<InputStream> in;
  private final PrintWriter out;
  private final boolean json;
  private final CompletableFuture<Integer> end = new CompletableFuture<>();

  /**
   * Prepares.
   *
   * @param in what is read to its end, if it has one
   * @param json whether one JSON object is printed for each thing that happens
   */
  HoldUntilEnd(Waiting.Words words, Optional<InputStream> in, PrintWriter out, boolean json) {
    this.words = words;
    this.in = in;
    this.out = out;
    this.json = json;
  }

  /**
   * Returns our standard input where its end means something. A service's is empty from the start,
   * and to read from a terminal stops whoever is in its background.
   */
  static Optional<InputStream> standardInput() {
    return Terminal.isStandardInput() || Terminal.isStandardInputNull()
        ? Optional.empty()
        : Optional.of(System.in);
  }

  @Override
  public int whileHeld(LockHandle handle) {
    for (LockGrant grant : handle.grants()) {
      JsonObject event = event("granted");
      event.addProperty("lock", grant.name());
      event.addProperty("fencingToken", Long.toString(grant.fencingToken()));
      print(
          event,
          words.holding() + " " + Text.plain(grant.name()) + ", token " + grant.fencingToken());
    }
    CompletionStage<Void> told = handle.lost().thenAccept(this::onLost);
    in.ifPresent(this::readInBackground);
    ClosedPipe output = new ClosedPipe(() -> end.complete(ExitCodes.OK));
    try (output) {
      int exitCode = end.join();
      if (handle.isValid()) {
        return exitCode;
      }
      told.toCompletableFuture().completeOnTimeout(null, 1, TimeUnit.SECONDS).join();
      return ExitCodes.LOST;
    }
  }

  private void readInBackground(InputStream input) {
    Thread reader = new Thread(() -> readToTheEnd(input), "lockkeeper-input");
    reader.setDaemon(true);
    reader.start();
  }

  private void readToTheEnd(InputStream input) {
    try {
      while (input.read() >= 0) {
        // What is typed means nothing.
      }
    } catch (IOException e) {
      // Then nobody is there to end it, which is an end as well.
    }
    end.complete(ExitCodes.OK);
  }

  private void onLost(LossReason reason) {
    JsonObject event = event("lost");
    event.addProperty("reason", reason.name());
    print(event, words.lost() + " (" + reason + ")");
    end.complete(ExitCodes.LOST);
  }

  /** Ctrl-C is how it is meant to end. */
  @Override
  public void onSignal(String name) {
    end.complete(ExitCodes.OK);
  }

  @Override
  public void onReleased(LockHandle handle, boolean confirmed) {
    for (LockGrant grant : handle.grants()) {
      JsonObject event = event("released");
      event.addProperty("lock", grant.name());
      event.addProperty("confirmed", confirmed);
      print(
          event,
          words.released()
              + " "
              + Text.plain(grant.name())
              + (confirmed ? "" : ", which no server has confirmed"));
    }
  }

  @Override
  public void onReleaseRequested(ReleaseRequest request) {
    JsonObject event = event("release_requested");
    event.addProperty("requester", request.requester());
    event.addProperty("reason", request.reason());
    request
        .deadline()
        .ifPresent(left -> event.addProperty("deadlineSeconds", left.toMillis() / 1_000.0));
    print(event, CommandUnderLock.inWords(request));
  }

  @Override
  public void onContact(boolean withZooKeeper, Duration validFor) {
    JsonObject event = event(withZooKeeper ? "safe" : "jeopardy");
    event.addProperty("validForSeconds", validFor.toMillis() / 1_000.0);
    print(
        event,
        withZooKeeper
            ? "the server has contact with ZooKeeper again"
            : "the server has no contact with ZooKeeper; it is good for " + Text.age(validFor));
  }

  @Override
  public void onAboutToExpire(Duration remaining, boolean byMaxHold) {
    JsonObject event = event("about_to_expire");
    event.addProperty("remainingSeconds", remaining.toMillis() / 1_000.0);
    print(
        event,
        (byMaxHold ? "--max-hold is nearly over" : "no word from the server")
            + "; it is good for "
            + Text.age(remaining)
            + " more");
  }

  private static JsonObject event(String what) {
    JsonObject event = new JsonObject();
    event.addProperty("event", what);
    return event;
  }

  private synchronized void print(JsonObject event, String inWords) {
    out.println(json ? event.toString() : inWords);
    if (Terminal.isOutputLost(out)) {
      end.complete(ExitCodes.OK); // nobody reads any more, or a disk is full, which main tells
    }
  }
}
