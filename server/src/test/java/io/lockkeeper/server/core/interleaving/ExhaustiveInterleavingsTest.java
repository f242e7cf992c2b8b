package io.lockkeeper.server.core.interleaving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.server.core.api.LifecycleEvent;
import java.math.BigInteger;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Small pieces of what can happen to three coordinators and two clients, each in all orders.
 *
 * <p>So that there are few enough of them, some channels of each piece deliver at once. What stands
 * behind a choice is that it is the worst case, or that another piece tries those orders: an answer
 * that comes at once makes a client believe the longest; a grant that comes at once makes it
 * believe the soonest; a mirror that lags only delays, and does so in the pieces in which no time
 * passes.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class ExhaustiveInterleavingsTest {

  private static final Duration HALF = Duration.ofSeconds(14);
  private static final Duration SOME = Duration.ofMillis(2_500);

  /** What clients send, what is read, and what adopters write arrives at once. */
  private static final String USUAL = "client . to .+|.+ asks|B (hears|writes) .";

  /** One adopter alone: between its look at a claim and the taking of it nothing happens. */
  private static final String ALONE = USUAL + "|B claims";

  /** Two that want the same claim, or one that wants two. */
  private static final String RACING = USUAL + "|.2 (hears|writes) .";

  /** What A hears when its contact comes back it hears at once, and who waits at B, too. */
  private static final String WITH_TIME = ALONE + "|A hears .|A writes 2|mirror of A|B to client 2";

  /** What the second client has done when it begins; the first holds at A. */
  private enum Second {
    WAITS_AT_A,
    WAITS_AT_B,
    HAS_A_LEASE_AT_A
  }

  /**
   * A small piece of the world's course.
   *
   * @param second how the second client begins
   * @param prompt which channels carry what they carry at once
   * @param script what can happen
   * @param lastly what must be so when everything has arrived
   */
  private record Scenario(
      Second second, String prompt, Consumer<TinyWorld> script, Consumer<TinyWorld> lastly) {

    private Interleavings.Tried all(TinyWorld.Mistake mistake) {
      Pattern pattern = Pattern.compile(prompt);
      return Interleavings.all(() -> begin(mistake, pattern));
    }

    private TinyWorld begin(TinyWorld.Mistake mistake, Pattern pattern) {
      TinyWorld world = new TinyWorld(mistake, pattern.asMatchPredicate(), lastly);
      world.first.open(world.a);
      world.second.open(second == Second.WAITS_AT_B ? world.b : world.a);
      world.settle();
      world.first.acquire();
      world.settle();
      if (second != Second.HAS_A_LEASE_AT_A) {
        world.second.acquire();
        world.settle();
      }
      assertThat(world.first.believes()).isTrue();
      script.accept(world);
      return world;
    }
  }

  private static void assertAll(String name, long atLeast, Scenario scenario) {
    long begun = System.nanoTime();
    Interleavings.Tried tried = scenario.all(TinyWorld.Mistake.NONE);
    System.out.println(name + ": " + tried + " in ms " + (System.nanoTime() - begun) / 1_000_000);
    assertThat(tried.orders()).isGreaterThan(BigInteger.valueOf(atLeast));
  }

  private static void assertFound(TinyWorld.Mistake mistake, String broken, Scenario scenario) {
    assertThatThrownBy(() -> scenario.all(mistake))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(broken);
  }

  /** Time has passed: who had it may have lost it. */
  private static void anything(TinyWorld world) {}

  /** Nobody has lost what it had; who has released is followed by who waited. */
  private static void nobodyHasLost(TinyWorld world) {
    for (TinyClient client : List.of(world.first, world.second)) {
      world.check(!client.over || client.left, client + " has lost what it had");
    }
    world.check(world.first.believes() != world.first.left, "the first does not hold");
    world.check(world.second.believes() == world.first.left, "the second does not hold");
  }

  private static void adopt(TinyWorld world) {
    world.script(world.b).then("B suspects A", () -> world.b.suspects(world.a));
  }

  /** A is out of touch with ZooKeeper, and B has adopted what it looks after. */
  private static void isCutOffAndAdopted(TinyWorld world) {
    world.a.cut = true;
    world.b.suspects(world.a);
    world.settle();
  }

  /** So long that a lease ends that is not kept alive; but it is, at B, by who waits there. */
  private static void timePasses(TinyWorld world) {
    world
        .script()
        .then(
            "half of it passes",
            () -> {
              world.pass(HALF);
              world.second.keepAlive();
            })
        .then("some passes", () -> world.pass(SOME));
  }

  private static void keepsAlive(TinyWorld world) {
    world.script(world.first).then("1 keeps alive", world.first::keepAlive);
  }

  private static TinyWorld.Script goesToB(TinyWorld world) {
    return world
        .script(world.first)
        .when("1 goes to B", () -> world.first.mayComeTo(world.b), () -> world.first.go(world.b));
  }

  private static void goesBackToA(TinyWorld world, TinyWorld.Script script) {
    script.when("1 goes to A", () -> world.first.mayComeTo(world.a), () -> world.first.go(world.a));
  }

  private static void hasContact(TinyWorld world) {
    world.script(world.a).then("A has contact", () -> world.a.cut = false);
  }

  /** A is deposed and does not know; the holder goes to B and releases there. */
  private static void releasesElsewhere(TinyWorld world) {
    adopt(world);
    goesToB(world).then("1 releases", world.first::release);
  }

  /** The holder keeps its lease alive at A, which vouches for it, or is sent to B. */
  private static void staysWhileTimePasses(TinyWorld world) {
    world.a.on(new LifecycleEvent.PeersServing(1));
    isCutOffAndAdopted(world);
    world
        .script(world.first)
        .then("1 keeps alive", world.first::keepAlive)
        .then("1 keeps alive again", world.first::keepAlive);
    world.script(world.second).then("2 keeps alive", world.second::keepAlive);
    world
        .script()
        .then("half of it passes", () -> world.pass(HALF))
        .then("some passes", () -> world.pass(SOME));
  }

  /** A dies; what it had sent arrives late, or never: after the claim was taken is never. */
  private static void diesAndIsFoundDead(TinyWorld world) {
    world.script(world.a).then("A dies", world.a::die);
    world.script(world.b).when("B suspects A", () -> world.a.dead, () -> world.b.suspects(world.a));
  }

  /** A may have granted the lock to who waits, ahead of a deletion that never came. */
  private static void diesWhileTheHolderReleases(TinyWorld world) {
    diesAndIsFoundDead(world);
    world.script(world.first).then("1 releases", world.first::release);
  }

  /** A may be adopted before, and not know. */
  private static void isAdoptedAndDiesWhileTheHolderReleases(TinyWorld world) {
    adopt(world);
    world.script(world.a).then("A dies", world.a::die);
    world.script(world.first).then("1 releases", world.first::release);
  }

  /** A may have created the entry or not, and may have said so or not. */
  private static void diesWhileTheSecondAsks(TinyWorld world) {
    diesAndIsFoundDead(world);
    world.script(world.second).then("2 asks", world.second::acquire);
  }

  /** The holder goes to B and back, before or after A knows. */
  private static void comesBack(TinyWorld world) {
    isCutOffAndAdopted(world);
    hasContact(world);
    goesBackToA(world, goesToB(world));
    world.script(world.first).then("1 releases", world.first::release);
  }

  /** The holder goes to B; at A its lease ends, with all that A would delete. */
  private static void comesBackWhileTimePasses(TinyWorld world) {
    isCutOffAndAdopted(world);
    hasContact(world);
    goesToB(world);
    keepsAlive(world);
    timePasses(world);
  }

  /** The holder has been to B and goes back to A, which vouches for it. */
  private static void goesBackWhileTimePasses(TinyWorld world) {
    world.first.go(world.b);
    isCutOffAndAdopted(world);
    hasContact(world);
    goesBackToA(world, world.script(world.first));
    keepsAlive(world);
    timePasses(world);
  }

  /** A stands still, and hears what was sent to it meanwhile after it has noticed. */
  private static void pauses(TinyWorld world) {
    world.a.pause();
    world.b.suspects(world.a);
    world.settle();
    goesToB(world);
    timePasses(world);
    world
        .script(world.a)
        .then("A goes on", world.a::goOn)
        .then("A runs what is due", world.a::tick);
  }

  /** A new process in A's place knows that A is dead for certain. */
  private static void isFollowed(TinyWorld world) {
    TinyCoordinator next = world.start("A2", "here");
    world.script(next).then("A2 finds what A left", () -> next.suspects(world.a));
  }

  /** The holder has released at A, and all that A made of that is on its way. */
  private static void isFollowedAfterARelease(TinyWorld world) {
    world.first.release();
    world.prompt();
    world.a.die();
    isFollowed(world);
    adopt(world);
  }

  /** Who came first serves; a holder that comes late may find its lease at an end. */
  private static void isFollowedWhileTimePasses(TinyWorld world) {
    world.a.die();
    isFollowed(world);
    adopt(world);
    timePasses(world);
  }

  /** A, cut off, vouches for what B adopted from it; B dies, and somebody follows in its place. */
  private static void adopterIsFollowed(TinyWorld world) {
    isCutOffAndAdopted(world);
    world.b.die();
    TinyCoordinator next = world.start("B2", "there");
    world.script(next).then("B2 finds what B left", () -> next.suspects(world.b));
    keepsAlive(world);
    timePasses(world);
  }

  /** B dies, and A adopts its own session of which it does not know yet that it was B's. */
  private static void adoptsBack(TinyWorld world) {
    world.first.go(world.b);
    isCutOffAndAdopted(world);
    world.a.cut = false;
    world.prompt();
    world.script(world.b).then("B dies", world.b::die);
    world.script(world.a).when("A suspects B", () -> world.b.dead, () -> world.a.suspects(world.b));
    world.script(world.second).then("2 gives up", world.second::release);
  }

  /** The second has given up, wherever it said so. */
  private static void theFirstAloneIsLeft(TinyWorld world) {
    world.check(world.first.believes(), "the first does not hold");
    world.check(world.zooKeeper.queue.size() == 1, "what was given up is left");
  }

  private static final Scenario STAYS =
      new Scenario(
          Second.WAITS_AT_B,
          ALONE,
          ExhaustiveInterleavingsTest::staysWhileTimePasses,
          ExhaustiveInterleavingsTest::anything);

  private static final Scenario DIES_WHILE_THE_HOLDER_RELEASES =
      new Scenario(
          Second.WAITS_AT_A,
          ALONE,
          ExhaustiveInterleavingsTest::diesWhileTheHolderReleases,
          ExhaustiveInterleavingsTest::nobodyHasLost);

  private static final Scenario DIES_WHILE_THE_SECOND_ASKS =
      new Scenario(
          Second.HAS_A_LEASE_AT_A,
          ALONE,
          ExhaustiveInterleavingsTest::diesWhileTheSecondAsks,
          ExhaustiveInterleavingsTest::nobodyHasLost);

  private static final Scenario COMES_BACK_WHILE_TIME_PASSES =
      new Scenario(
          Second.WAITS_AT_B,
          WITH_TIME,
          ExhaustiveInterleavingsTest::comesBackWhileTimePasses,
          ExhaustiveInterleavingsTest::anything);

  private static final Scenario GOES_BACK_WHILE_TIME_PASSES =
      new Scenario(
          Second.WAITS_AT_B,
          WITH_TIME,
          ExhaustiveInterleavingsTest::goesBackWhileTimePasses,
          ExhaustiveInterleavingsTest::anything);

  private static final Scenario PAUSES =
      new Scenario(
          Second.WAITS_AT_B,
          WITH_TIME,
          ExhaustiveInterleavingsTest::pauses,
          ExhaustiveInterleavingsTest::anything);

  private static final Scenario IS_FOLLOWED_WHILE_TIME_PASSES =
      new Scenario(
          Second.WAITS_AT_B,
          RACING + "|mirror of A2|.+ to client 2",
          ExhaustiveInterleavingsTest::isFollowedWhileTimePasses,
          ExhaustiveInterleavingsTest::anything);

  private static final Scenario ADOPTER_IS_FOLLOWED =
      new Scenario(
          Second.WAITS_AT_B,
          RACING + "|B2 claims|.+ to client 2",
          ExhaustiveInterleavingsTest::adopterIsFollowed,
          ExhaustiveInterleavingsTest::anything);

  @Test
  void holderReleasesElsewhereWhileTheFirstCoordinatorDoesNotKnow() {
    assertAll(
        "elsewhere",
        1_000_000,
        new Scenario(
            Second.WAITS_AT_B,
            ALONE,
            ExhaustiveInterleavingsTest::releasesElsewhere,
            ExhaustiveInterleavingsTest::nobodyHasLost));
  }

  @Tag("slow")
  @Test
  void holderStaysAtACoordinatorThatIsCutOffWhileTimePasses() {
    assertAll("time", 5_000_000, STAYS);
  }

  @Tag("slow")
  @Test
  void releaseThatACoordinatorDiedOverLetsInWhoWaitedAtIt() {
    assertAll("dies, waiter there", 1_000_000, DIES_WHILE_THE_HOLDER_RELEASES);
  }

  @Tag("slow")
  @Test
  void releaseThatADeposedCoordinatorDiedOverLetsInWhoWaitsElsewhere() {
    assertAll(
        "dies, waiter elsewhere",
        4_000_000,
        new Scenario(
            Second.WAITS_AT_B,
            ALONE,
            ExhaustiveInterleavingsTest::isAdoptedAndDiesWhileTheHolderReleases,
            ExhaustiveInterleavingsTest::nobodyHasLost));
  }

  @Tag("slow")
  @Test
  void requestThatACoordinatorDiedOverGetsOneEntryAndItsPlace() {
    assertAll("dies, asked", 15_000, DIES_WHILE_THE_SECOND_ASKS);
  }

  @Tag("slow")
  @Test
  void holderGoesToTheAdopterAndBackToACoordinatorWhoseContactComesBack() {
    assertAll(
        "there and back, waiter elsewhere",
        5_000_000,
        new Scenario(
            Second.WAITS_AT_B,
            ALONE + "|mirror of A|B to client 2",
            ExhaustiveInterleavingsTest::comesBack,
            ExhaustiveInterleavingsTest::nobodyHasLost));
  }

  @Tag("slow")
  @Test
  void holderAndWaiterLeaveADeposedCoordinatorWhoseContactComesBack() {
    assertAll(
        "there and back, waiter there",
        10_000_000,
        new Scenario(
            Second.WAITS_AT_A,
            ALONE + "|mirror of A|B to client .",
            ExhaustiveInterleavingsTest::comesBack,
            ExhaustiveInterleavingsTest::nobodyHasLost));
  }

  @Tag("slow")
  @Test
  void deposedCoordinatorThatEndsALeaseDeletesNothing() {
    assertAll("comes back", 200_000, COMES_BACK_WHILE_TIME_PASSES);
  }

  @Tag("slow")
  @Test
  void nothingEndsAtTheAdopterWhileItsClientIsBackAtADeposedCoordinator() {
    assertAll("goes back", 100_000, GOES_BACK_WHILE_TIME_PASSES);
  }

  @Tag("slow")
  @Test
  void coordinatorThatWasAdoptedDuringAPauseChangesNothingAfterwards() {
    assertAll("pause", 50_000, PAUSES);
  }

  @Tag("slow")
  @Test
  void successorAndPeerRaceForWhatADeadCoordinatorLeftWhoseWaiterIsElsewhere() {
    assertAll(
        "race, waiter elsewhere",
        3_000_000,
        new Scenario(
            Second.WAITS_AT_B,
            RACING,
            ExhaustiveInterleavingsTest::isFollowedAfterARelease,
            ExhaustiveInterleavingsTest::nobodyHasLost));
  }

  /** The first has released: what it is told at once says nothing new to it. */
  @Tag("slow")
  @Test
  void successorAndPeerRaceForWhatADeadCoordinatorLeftWithItsWaiter() {
    assertAll(
        "race, waiter there",
        100_000,
        new Scenario(
            Second.WAITS_AT_A,
            RACING + "|mirror of A2|.+ to client 1",
            ExhaustiveInterleavingsTest::isFollowedAfterARelease,
            ExhaustiveInterleavingsTest::nobodyHasLost));
  }

  @Tag("slow")
  @Test
  void successorThatKnowsTheDeathForCertainEndsNothingTooEarly() {
    assertAll("race in time", 20_000, IS_FOLLOWED_WHILE_TIME_PASSES);
  }

  @Tag("slow")
  @Test
  void successorOfAnAdopterWaitsForWhoOwnedTheSessionBefore() {
    assertAll("adopter followed", 10_000, ADOPTER_IS_FOLLOWED);
  }

  /** What A writes on sessions other than the one that it lost, it writes at once. */
  @Tag("slow")
  @Test
  void coordinatorAdoptsBackASessionOfWhichItDoesNotKnowThatItLostIt() {
    assertAll(
        "adopts back",
        3_000_000,
        new Scenario(
            Second.WAITS_AT_A,
            ALONE + "|mirror of A|B to client .|A (hears|writes) [2-9]",
            ExhaustiveInterleavingsTest::adoptsBack,
            ExhaustiveInterleavingsTest::theFirstAloneIsLeft));
  }

  @Tag("slow")
  @Test
  void coordinatorTakenForDeadThatLivesIsFound() {
    assertFound(TinyWorld.Mistake.ALIVE_TAKEN_FOR_DEAD, "both hold", STAYS);
  }

  @Tag("slow")
  @Test
  void coordinatorTakenForDeadToWhichTheHolderGoesBackIsFound() {
    assertFound(TinyWorld.Mistake.ALIVE_TAKEN_FOR_DEAD, "both hold", GOES_BACK_WHILE_TIME_PASSES);
  }

  @Tag("slow")
  @Test
  void coordinatorTakenForDeadThatAnAdopterWasInBetweenIsFound() {
    assertFound(TinyWorld.Mistake.EARLIER_OWNERS_FORGOTTEN, "both hold", ADOPTER_IS_FOLLOWED);
  }

  @Tag("slow")
  @Test
  void graceOfOneTimeToLiveIsFound() {
    assertFound(TinyWorld.Mistake.GRACE_TOO_SHORT, "both hold", STAYS);
  }

  @Tag("slow")
  @Test
  void lateWriteOfADeadCoordinatorIsFound() {
    assertFound(
        TinyWorld.Mistake.EPOCH_IGNORED, "one request has two entries", DIES_WHILE_THE_SECOND_ASKS);
  }

  @Tag("slow")
  @Test
  void lateWriteOfACoordinatorWhoseContactComesBackIsFound() {
    assertFound(TinyWorld.Mistake.EPOCH_IGNORED, "both hold", COMES_BACK_WHILE_TIME_PASSES);
  }

  @Tag("slow")
  @Test
  void lateWriteOfACoordinatorAfterAPauseIsFound() {
    assertFound(TinyWorld.Mistake.EPOCH_IGNORED, "both hold", PAUSES);
  }

  /** The winner ends the lease whose client is at the loser. */
  @Tag("slow")
  @Test
  void loserOfTheRaceThatServesTheSessionIsFound() {
    assertFound(TinyWorld.Mistake.LOSER_SERVES, "was granted past", IS_FOLLOWED_WHILE_TIME_PASSES);
  }

  @Test
  void entriesThatAnAdopterOverlooksAreFound() {
    assertFound(
        TinyWorld.Mistake.ENTRIES_OVERLOOKED, "has lost what it had", DIES_WHILE_THE_SECOND_ASKS);
  }
}
