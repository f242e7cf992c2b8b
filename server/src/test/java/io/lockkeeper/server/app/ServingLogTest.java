package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ServingLogTest {

  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger logger = (Logger) LoggerFactory.getLogger(ServingLog.class);
  private boolean serving;
  private final ServingLog log = new ServingLog(() -> serving, "zk:2181");

  @BeforeEach
  void listen() {
    lines.start();
    logger.addAppender(lines);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(lines);
    log.close();
  }

  @Test
  void outageIsSaidSoonAndThenOnceAMinute() {
    // When
    for (int second = 0; second < 120; second++) {
      log.check();
    }
    // Then
    assertThat(lines.list)
        .hasSize(2)
        .allMatch(line -> line.getLevel() == Level.WARN)
        .allMatch(line -> line.getKeyValuePairs().toString().contains("zk:2181"));
  }

  @Test
  void shortInterruptionIsNotSaid() {
    // Given
    serving = true;
    log.check();
    lines.list.clear();
    // When
    serving = false;
    log.check();
    log.check();
    // Then
    assertThat(lines.list).isEmpty();
  }

  @Test
  void returnIsSaidOnce() {
    // Given
    log.check();
    // When
    serving = true;
    log.check();
    log.check();
    // Then
    assertThat(lines.list).extracting(ILoggingEvent::getMessage).containsExactly("serving");
  }
}
