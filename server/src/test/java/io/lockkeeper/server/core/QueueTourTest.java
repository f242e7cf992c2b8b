package io.lockkeeper.server.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.QueueExtremes;
import io.lockkeeper.server.core.lock.EntryName;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.queue.Mirror;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class QueueTourTest {

  private static final EntryName FIRST = entry(0);
  private static final EntryName SECOND = entry(1);

  private final Mirror mirror = new Mirror();
  private final QueueTour tour = new QueueTour(2);

  private static EntryName entry(int sequence) {
    return EntryName.parse(
            "_c_00000000-0000-0000-0000-00000000000%d-lock-%010d".formatted(sequence, sequence))
        .orElseThrow();
  }

  private void enters(String lock, EntryName entry) {
    var unused = mirror.appeared(new LockName(lock), entry, 1, 0);
  }

  private Optional<QueueExtremes> goOn() {
    return tour.goOn(mirror.queues(), 0);
  }

  @Test
  void tourOfManyQueuesTakesSeveralSteps() {
    // Given
    for (String lock : new String[] {"a", "b", "c", "d", "e"}) {
      enters(lock, FIRST);
    }
    enters("c", SECOND);
    // Then
    assertThat(goOn()).isEmpty();
    assertThat(goOn()).isEmpty();
    assertThat(goOn()).map(QueueExtremes::longestQueue).contains(2);
  }

  @Test
  void nextTourBeginsWithNothing() {
    // Given
    enters("a", FIRST);
    enters("a", SECOND);
    assertThat(goOn()).map(QueueExtremes::longestQueue).contains(2);
    // When
    var unused = mirror.vanished(new LockName("a"), SECOND.text(), 2);
    // Then
    assertThat(goOn()).map(QueueExtremes::longestQueue).contains(1);
  }

  @Test
  void tourGoesOnBehindAQueueThatHasGone() {
    // Given
    enters("a", FIRST);
    enters("b", FIRST);
    enters("c", FIRST);
    enters("d", FIRST);
    enters("d", SECOND);
    assertThat(goOn()).isEmpty();
    // When
    var unused = mirror.vanished(new LockName("c"), FIRST.text(), 2);
    // Then
    assertThat(goOn()).map(QueueExtremes::longestQueue).contains(2);
  }

  @Test
  void thereAreNoExtremesWithoutQueues() {
    assertThat(goOn()).contains(QueueExtremes.NONE);
  }
}
