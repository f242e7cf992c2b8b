package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import org.junit.jupiter.api.Test;

class ComparedRowTest {

  @Test
  void rowsAreNamedAfterTheirWorkAndTheirClients() {
    assertThat(ComparedRow.values())
        .extracting(ComparedRow::label)
        .containsExactly(
            "own-1", "own-64", "own-256", "own-1024", "hot-64", "reentrant-64", "reentrant-1");
  }

  @Test
  void reentryIsMeasuredOfThoseLocksOnlyThatHaveIt() {
    assertThat(ComparedRow.REENTRANT_64.subjects(EnumSet.allOf(Subject.class)))
        .containsExactly(Subject.CURATOR, Subject.LOCKKEEPER, Subject.REDISSON);
  }
}
