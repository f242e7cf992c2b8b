package io.lockkeeper.conformance;

import io.grpc.Status.Code;
import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.conformance.Stage.Held;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.ErrorReason;
import io.lockkeeper.v1.GetShardsResponse;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.PlacedNamespace;
import io.lockkeeper.v1.Refused;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.Shard;
import io.lockkeeper.v1.ShardTable;
import io.lockkeeper.v1.WrongShard;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** A client that was given the servers of one shard, and finds those of another. */
final class ShardScenarios {

  private ShardScenarios() {}

  /** The shards "one" and "two", and a client that was given "one" and asks there for "a". */
  private record Shards(Stage stage, ScriptedServer one, ScriptedServer two, Held asks) {

    ServedStream given() {
      return asks.stream();
    }

    /** At this server, the table gives "a" to that shard, and names nothing else. */
    void says(ScriptedServer server, long version, String shardOfA) {
      says(server, table(version, Map.of("a", shardOfA)));
    }

    void says(ScriptedServer server, ShardTable.Builder table) {
      String self = server == one ? "one" : "two";
      server.hasShards(GetShardsResponse.newBuilder().setTable(table).setSelf(self).build());
    }

    /** "one" has what is not named, unless the script says that another has some of it. */
    ShardTable.Builder table(long version, Map<String, String> named) {
      ShardTable.Builder table = ShardTable.newBuilder().setVersion(version).setLead("one");
      table.addShards(shard("one").setHashed(true)).addShards(shard("two"));
      new TreeMap<>(named)
          .forEach(
              (namespace, shard) ->
                  table.addNamespaces(
                      PlacedNamespace.newBuilder().setNamespace(namespace).setShard(shard)));
      return table;
    }

    Shard.Builder shard(String id) {
      return Shard.newBuilder().setId(id).addAddresses((id.equals("one") ? one : two).address());
    }

    /** It is refused: the table of that version gives "a" to that shard. */
    void refuse(ServedStream stream, AcquireRequest request, long version, String shardOfA) {
      stream.refused(
          refusal(request, ErrorReason.ERROR_REASON_WRONG_SHARD, Code.FAILED_PRECONDITION, -1)
              .setWrongShard(
                  WrongShard.newBuilder()
                      .setNamespace("a")
                      .setShard(shard(shardOfA))
                      .setTableVersion(version)));
    }

    /** "one" refuses the request for "a", which "two" serves by the table, and shows the table. */
    void sendToTwo() {
      says(one, 5, "two");
      refuse(given(), asks.request(), 5, "two");
    }

    /** The client holds "a" at "two", with the token 9. */
    Held heldAtTwo() {
      sendToTwo();
      Held atTwo = asksAtTwo();
      atTwo.stream().granted(atTwo.request(), 9);
      stage.expectGranted("a", 9);
      return atTwo;
    }

    /** The client opens a lease at "two", and asks there for "a". */
    Held asksAtTwo() {
      ServedStream stream = two.stream();
      Received open = stream.awaitOpen();
      stream.opened(open, Terms.CALM);
      return new Held(two, stream.answersKeepAlives(Terms.CALM), open, stream.awaitAcquire("a"));
    }

    void mustHaveAskedForTheTable(int ofOne, int ofTwo) {
      Unmet.unless(
          one.tableRequests() == ofOne && two.tableRequests() == ofTwo,
          "the client has asked %d and %d times for the table, and not %d and %d times"
              .formatted(one.tableRequests(), two.tableRequests(), ofOne, ofTwo));
    }
  }

  private static Refused.Builder refusal(
      AcquireRequest request, ErrorReason reason, Code code, long retryAfterMillis) {
    return ServedStream.refusal(reason, code, retryAfterMillis).setAcquire(request.getRequestId());
  }

  /** The client asks for "a", for as long as it takes. */
  private static Shards asks(Stage stage) {
    return asks(stage, Map.of());
  }

  private static Shards asks(Stage stage, Map<String, Object> limit) {
    ScriptedServer one = stage.server();
    ScriptedServer two = stage.server();
    stage.client(one);
    acquire(stage, limit, "a");
    Held asks = stage.asksIfAble(Terms.CALM, one, "the client knows no shards");
    asks.stream().answersKeepAlives(Terms.CALM);
    return new Shards(stage, one, two, asks);
  }

  private static void acquire(Stage stage, String... locks) {
    acquire(stage, Map.of(), locks);
  }

  private static void acquire(Stage stage, Map<String, Object> limit, String... locks) {
    Map<String, Object> fields = new HashMap<>(limit);
    fields.putAll(Map.of("id", locks[0], "locks", List.of(locks), "shards", true));
    stage.client().send("acquire", fields);
  }

  private static void mustBeAnother(AcquireRequest next, AcquireRequest before) {
    Unmet.unless(
        !next.getRequestId().equals(before.getRequestId()),
        "the client asks again under the request_id that it had: " + next.getRequestId());
  }

  private static void mustHaveTimedOut(Stage stage, String id) {
    String reason = stage.expect(id, "not_acquired").line().path("reason").asString("");
    Unmet.unless(reason.equals("TIMED_OUT"), "not acquired for " + reason);
  }

  @Sentence("It never asks before that.")
  static void serverThatSaysNothingOfShardsIsNotAsked(Stage stage) {
    Held held = stage.held(Terms.CALM);
    stage.acquire("b");
    AcquireRequest refused = held.stream().awaitAcquire("b");
    held.stream()
        .refused(
            refusal(refused, ErrorReason.ERROR_REASON_QUEUE_FULL, Code.RESOURCE_EXHAUSTED, -1));
    stage.expect("b", "not_acquired");
    held.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = held.server().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(held.open()), Terms.CALM);
    next.granted(next.awaitAcquire("a"), 7);
    stage.release("a");
    next.awaitRelease(held.request());
    next.released(held.request(), ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    stage.expect("a", "released");
    Unmet.unless(held.server().tableRequests() == 0, "the client asks for a table of shards");
  }

  @Sentence(
      "One lease a shard, opened when the first request goes there, with a secret, a deadline, an epoch and a stream of its own, at the shard's `addresses`.")
  static void requestGoesOnUnderALeaseOfItsOwn(Stage stage) {
    Shards shards = asks(stage);
    shards.given().epoch(5); // That of the other lease is lower, and it is not stale for that.
    shards.sendToTwo();
    Held atTwo = shards.asksAtTwo();
    OpenSession open = atTwo.open().request().getOpen();
    OpenSession before = shards.asks().open().request().getOpen();
    Unmet.unless(
        open.getLeaseId().isEmpty() && !open.getLeaseSecret().equals(before.getLeaseSecret()),
        "the client opens no lease of its own, but sends " + ServedStream.text(open));
    mustBeAnother(atTwo.request(), shards.asks().request());
    atTwo.stream().granted(atTwo.request(), 9);
    stage.expectGranted("a", 9);
    stage.mustHold("a");
    shards.mustHaveAskedForTheTable(1, 0);
  }

  @Sentence(
      "with what is left of its wait limit, which the client counts from when its caller asked")
  static void waitLimitCountsFromWhenTheCallerAsked(Stage stage) {
    Shards shards = asks(stage, Map.of("wait_ms", 20_000));
    stage.pause(1_500);
    shards.sendToTwo();
    AcquireRequest next = shards.asksAtTwo().request();
    long left = Terms.toMillis(next.getWaitTimeout());
    Unmet.unless(
        next.hasWaitTimeout() && left > 0 && left <= 18_500,
        "asked again 1500 ms later with a wait limit of " + left + " of 20000 ms");
  }

  /**
   * With a shard that weighs more than these for "users" and is not hashed. As signed numbers, the
   * weights for "mail" would be the other way round.
   */
  @Sentence(
      "A namespace that the table does not name is served by that hashed shard whose weight is the highest: the first eight bytes, as an unsigned big-endian number, of the SHA-256 of the UTF-8 bytes of the shard's id, \"/\", and the namespace (rendezvous hashing).")
  static void namespaceThatIsNotNamedGoesByHashing(Stage stage) {
    Shards shards = asks(stage);
    ShardTable.Builder table = shards.table(5, Map.of("a", "two"));
    table.getShardsBuilder(1).setHashed(true);
    table.addShards(1, Shard.newBuilder().setId("three").addAddresses(stage.deadAddress()));
    shards.says(shards.one(), table);
    shards.refuse(shards.given(), shards.asks().request(), 5, "two");
    ServedStream two = shards.asksAtTwo().stream();
    for (String lock : List.of("users/1", "straße/1")) {
      acquire(stage, lock);
      shards.given().awaitAcquire(lock);
    }
    for (String lock : List.of("a/2", "mail/1", "orders/1", "jobs")) {
      acquire(stage, lock);
      two.awaitAcquire(lock);
    }
    shards.mustHaveAskedForTheTable(1, 0);
  }

  @Sentence("it goes by what `WrongShard` says, for this namespace")
  static void withoutATableWhatTheRefusalSaysCounts(Stage stage) {
    Shards shards = asks(stage);
    shards.refuse(shards.given(), shards.asks().request(), 5, "two");
    ServedStream two = shards.asksAtTwo().stream();
    Unmet.unless(shards.one().tableRequests() > 0, "the client has not asked for the table");
    acquire(stage, "a/2");
    two.awaitAcquire("a/2");
    acquire(stage, "b");
    shards.given().awaitAcquire("b");
  }

  @Sentence(
      "Where `WrongShard` says something else with a version that is not below the table's, that counts for its namespace: a table leaves out what its reader had no right on.")
  static void whatTheRefusalSaysCountsWhereTheTableLeavesItOut(Stage stage) {
    Shards shards = asks(stage);
    shards.says(shards.one(), shards.table(5, Map.of()));
    shards.refuse(shards.given(), shards.asks().request(), 5, "two");
    ServedStream two = shards.asksAtTwo().stream();
    acquire(stage, "a/2");
    two.awaitAcquire("a/2");
    acquire(stage, "b");
    shards.given().awaitAcquire("b");
  }

  @Sentence(
      "If the table names the shard that refused, it is being changed: the client asks again after a second, with jitter.")
  static void tableThatNamesWhoRefusedIsBeingChanged(Stage stage) {
    Shards shards = asks(stage);
    shards.says(shards.one(), 5, "one");
    long refusedAtNanos = System.nanoTime();
    shards.refuse(shards.given(), shards.asks().request(), 4, "two");
    Received again = shards.given().await("another acquire of a", SessionRequest::hasAcquire);
    mustHavePaused(refusedAtNanos, again, 400);
    mustBeAnother(again.request().getAcquire(), shards.asks().request());
    shards.given().granted(again.request().getAcquire(), 9);
    stage.expectGranted("a", 9);
  }

  private static void mustHavePaused(long sinceNanos, Received again, long millis) {
    long pausedMillis = TimeUnit.NANOSECONDS.toMillis(again.atNanos() - sinceNanos);
    Unmet.unless(pausedMillis >= millis, "asked again after " + pausedMillis + " ms");
  }

  @Sentence("A request that may not wait follows `WRONG_SHARD` twice")
  static void requestThatMayNotWaitFollowsTwice(Stage stage) {
    Shards shards = asks(stage, Map.of("wait_ms", 0));
    shards.sendToTwo();
    Held atTwo = shards.asksAtTwo();
    Unmet.unless(
        atTwo.request().hasWaitTimeout() && Terms.toMillis(atTwo.request().getWaitTimeout()) == 0,
        "a request that may not wait is asked again without its wait limit of zero");
    shards.says(shards.two(), 6, "one");
    shards.refuse(atTwo.stream(), atTwo.request(), 6, "one");
    AcquireRequest again = shards.given().awaitAcquire("a");
    shards.says(shards.one(), 7, "two");
    shards.refuse(shards.given(), again, 7, "two");
    stage.expect("a", "not_acquired");
    stage.settle();
    Unmet.unless(!atTwo.stream().hasAnyWish(), "the client asks for a third time");
  }

  @Sentence(
      "`NAMESPACE_MOVING` is a refusal like any other that is `UNAVAILABLE` with a `retry_after`: ask again after that.")
  static void namespaceThatMovesIsAskedForAgainAfterTheDelay(Stage stage) {
    Shards shards = asks(stage);
    long refusedAtNanos = System.nanoTime();
    shards.given().refused(moving(shards.asks().request(), 1_000));
    Received again = shards.given().await("another acquire of a", SessionRequest::hasAcquire);
    mustHavePaused(refusedAtNanos, again, 1_000);
    shards.given().granted(again.request().getAcquire(), 9);
    stage.expectGranted("a", 9);
    shards.mustHaveAskedForTheTable(0, 0);
  }

  private static Refused.Builder moving(AcquireRequest request, long retryAfterMillis) {
    ErrorReason reason = ErrorReason.ERROR_REASON_NAMESPACE_MOVING;
    return refusal(request, reason, Code.UNAVAILABLE, retryAfterMillis);
  }

  @Sentence("and ends as timed out where the namespace is moving")
  static void requestThatMayNotWaitForAMoveTimesOut(Stage stage) {
    Shards shards = asks(stage, Map.of("wait_ms", 0));
    shards.given().refused(moving(shards.asks().request(), 500));
    mustHaveTimedOut(stage, "a");
  }

  @Sentence(
      "`not_acquired` with `NAMESPACE_MOVED` ends a wait at a shard that gives the namespace away: the request is asked again, under another `request_id`.")
  static void waitThatEndsByAMoveIsAskedAgain(Stage stage) {
    Shards shards = asks(stage);
    AcquireRequest waits = shards.asks().request();
    shards.given().queued(waits);
    shards.given().notAcquired(waits, NotAcquiredReason.NOT_ACQUIRED_REASON_NAMESPACE_MOVED);
    AcquireRequest again = shards.given().awaitAcquire("a");
    mustBeAnother(again, waits);
    shards.says(shards.one(), 5, "two");
    shards.refuse(shards.given(), again, 5, "two");
    Held atTwo = shards.asksAtTwo();
    atTwo.stream().granted(atTwo.request(), 9);
    stage.expectGranted("a", 9);
    stage.mustNotHaveReported("not_acquired", "a");
  }

  @Sentence(
      "Locks of several shards in one request are refused with `ACROSS_SHARDS`, by the client where it has a table, else by the server.")
  static void locksOfTwoShardsAreRefusedByTheClient(Stage stage) {
    Shards shards = asks(stage);
    Held atTwo = shards.heldAtTwo();
    acquire(stage, "b", "a/2");
    stage.expect("b", "not_acquired");
    stage.settle();
    Unmet.unless(
        !shards.given().hasAnyWish() && !atTwo.stream().hasAnyWish(),
        "the client asks one shard for locks of two");
    stage.mustHold("a");
  }

  @Sentence("What happens to one lease touches no lock of another.")
  static void endOfOneLeaseTouchesNoLockOfTheOther(Stage stage) {
    Shards shards = asks(stage);
    Held atTwo = shards.heldAtTwo();
    acquire(stage, "b");
    AcquireRequest b = shards.given().awaitAcquire("b");
    shards.given().granted(b, 7);
    stage.expectGranted("b", 7);
    atTwo.stream().leaseEnded(LeaseEndReason.LEASE_END_REASON_EXPIRED);
    atTwo.stream().end();
    stage.expect("a", "lost");
    stage.settle();
    stage.mustHold("b");
    stage.release("b");
    shards.given().awaitRelease(b);
  }

  @Sentence(
      "What holds goes on: a request that is repeated with `held_tokens` is not refused because of shards.")
  static void whatIsHeldStaysWithTheShardThatGrantedIt(Stage stage) {
    Shards shards = asks(stage);
    Held atTwo = shards.heldAtTwo();
    acquire(stage, "a/2");
    shards.says(shards.two(), 6, "one");
    shards.refuse(atTwo.stream(), atTwo.stream().awaitAcquire("a/2"), 6, "one");
    shards.given().awaitAcquire("a/2");
    stage.mustHold("a");
    atTwo.stream().fail(Code.UNAVAILABLE, "gone");
    ServedStream next = shards.two().stream().answersKeepAlives(Terms.CALM).epoch(2);
    next.resumed(next.awaitResume(atTwo.open()), Terms.CALM);
    AcquireRequest again = next.awaitAcquire("a");
    Unmet.unless(again.getHeldTokensList().equals(List.of(9L)), "repeated without its token");
    next.granted(again, 9);
    stage.release("a");
    next.awaitRelease(atTwo.request());
  }

  @Sentence("Closing the client closes all.")
  static void closingEndsBothLeases(Stage stage) {
    Shards shards = asks(stage);
    Held atTwo = shards.heldAtTwo();
    stage.client().send("close", Map.of());
    for (ServedStream stream : List.of(shards.given(), atTwo.stream())) {
      stream.awaitClose();
      stream.leaseEnded(LeaseEndReason.LEASE_END_REASON_CLOSED);
      stream.end();
    }
    stage.expect("", "closed");
    stage.mustNotHold("a");
  }
}
