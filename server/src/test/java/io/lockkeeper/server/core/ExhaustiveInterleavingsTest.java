package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class ExhaustiveInterleavingsTest {

  private static final Duration HALF = Duration.ofSeconds(14);
  private static final Duration SOME = Duration.ofSeconds(2);

  /** The first client holds at A, and the second waits there or at B. */
  private static TinyWorld held(TinyWorld.Mistake mistake, boolean waitsAtA) {
    TinyWorld world = new TinyWorld(mistake);
    world.first.open(world.a);
    world.second.open(waitsAtA ? world.a : world.b);
    world.settle();
    world.first.acquire();
    world.settle();
    world.second.acquire();
    world.settle();
    assertThat(world.first.believes()).isTrue();
    return world;
  }

  private static void adopt(TinyWorld world) {
    world.script(world.b).then("B finds the orphan", () -> orphan(world));
  }

  private static void orphan(TinyWorld world) {
    world.b.on(new SessionEvent.OrphanFound("claim"));
  }

  private static Interleavings.Tried all(
      TinyWorld.Mistake mistake, boolean waitsAtA, Consumer<TinyWorld> script) {
    return Interleavings.all(
        () -> {
          TinyWorld world = held(mistake, waitsAtA);
          script.accept(world);
          return world;
        });
  }

  private static void assertAll(
      String name, long atLeast, boolean waitsAtA, Consumer<TinyWorld> script) {
    long begun = System.nanoTime();
    Interleavings.Tried tried = all(TinyWorld.Mistake.NONE, waitsAtA, script);
    System.out.println(name + ": " + tried + " in ms " + (System.nanoTime() - begun) / 1_000_000);
    assertThat(tried.orders()).isGreaterThan(BigInteger.valueOf(atLeast));
  }

  private static void assertFound(
      TinyWorld.Mistake mistake, boolean waitsAtA, String broken, Consumer<TinyWorld> script) {
    assertThatThrownBy(() -> all(mistake, waitsAtA, script))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(broken);
  }

  /** A is deposed and does not know; the holder goes to B and releases there. */
  private static void releasesElsewhere(TinyWorld world) {
    adopt(world);
    world
        .script(world.first)
        .then("1 goes to B", () -> world.first.go(world.b))
        .then("1 releases", world.first::release);
  }

  /** A is cut off and adopted; the holder keeps its lease alive there while A vouches for it. */
  private static void staysWhileTimePasses(TinyWorld world) {
    world.a.cut = true;
    orphan(world);
    world.settle();
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

  @Test
  void holderReleasesElsewhereWhileTheFirstCoordinatorDoesNotKnow() {
    assertAll("elsewhere", 10_000, false, ExhaustiveInterleavingsTest::releasesElsewhere);
  }

  @Test
  void holderStaysAtACoordinatorThatIsCutOffWhileTimePasses() {
    assertAll("time", 20, false, ExhaustiveInterleavingsTest::staysWhileTimePasses);
  }

  @Test
  void coordinatorTakenForDeadThatLivesIsFound() {
    assertFound(
        TinyWorld.Mistake.ALIVE_TAKEN_FOR_DEAD,
        false,
        "both hold",
        ExhaustiveInterleavingsTest::staysWhileTimePasses);
  }

  @Test
  void graceOfOneTimeToLiveIsFound() {
    assertFound(
        TinyWorld.Mistake.GRACE_TOO_SHORT,
        false,
        "both hold",
        ExhaustiveInterleavingsTest::staysWhileTimePasses);
  }
}
