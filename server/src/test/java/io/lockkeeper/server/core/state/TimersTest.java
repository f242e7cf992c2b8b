package io.lockkeeper.server.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimersTest {

  private final Timers timers = new Timers();
  private final List<String> ran = new ArrayList<>();

  @Test
  void whatIsDueRunsSoonestFirstAndTiesInTheOrderInWhichTheyWereSet() {
    // Given
    set(30, "c");
    set(10, "a");
    set(20, "b1");
    set(20, "b2");
    // When
    timers.runDue(20);
    // Then
    assertThat(ran).containsExactly("a", "b1", "b2");
    assertThat(timers.next()).hasValue(30);
  }

  @Test
  void whatWasTakenBackDoesNotRun() {
    Timers.Timer taken = set(10, "a");
    timers.cancel(taken);
    timers.runDue(10);
    assertThat(ran).isEmpty();
    assertThat(timers.next()).isEmpty();
    assertThat(timers.size()).isZero();
  }

  @Test
  void whatAnActionSetsForNowRunsInTheSameTick() {
    timers.at(10, () -> set(10, "child"));
    timers.runDue(10);
    assertThat(ran).containsExactly("child");
  }

  @Test
  void theClockMayOverflow() {
    // Given
    long beforeOverflow = Long.MAX_VALUE - 5;
    set(beforeOverflow + 10, "later");
    set(beforeOverflow + 1, "sooner");
    // When
    timers.runDue(beforeOverflow + 2);
    // Then
    assertThat(ran).containsExactly("sooner");
    assertThat(timers.next()).hasValue(beforeOverflow + 10);
  }

  private Timers.Timer set(long at, String name) {
    return timers.at(at, () -> ran.add(name));
  }
}
