package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessorsTest {

  @Test
  void sortsAndReadsAreCounted() throws InterruptedException {
    Processors measured = Processors.measure();

    assertThat(measured.sorts()).isPositive().isFinite();
    assertThat(measured.atOnce()).isPositive().isFinite();
    assertThat(measured.readNanos()).isPositive().isFinite();
  }
}
