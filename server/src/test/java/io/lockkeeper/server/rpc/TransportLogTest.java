package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TransportLogTest {

  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger logger = new LoggerContext().getLogger("io.grpc");
  private final AtomicLong nanos = new AtomicLong();
  private final TransportLog log = new TransportLog(logger, nanos::get);

  @BeforeEach
  void listen() {
    lines.start();
    logger.addAppender(lines);
  }

  private void publish(String source, String message) {
    LogRecord line = new LogRecord(java.util.logging.Level.WARNING, message);
    line.setLoggerName("io.grpc.netty.shaded." + source);
    line.setThrown(new IllegalStateException("frame of the wrong\nkind"));
    log.publish(line);
  }

  @Test
  void oneLineInTenSecondsSaysHowManyWereLeftOut() {
    // When
    for (int i = 0; i < 1_000; i++) {
      publish("NettyServerHandler", "Stream Error");
    }
    publish("NettyServerTransport", "Transport failed");
    nanos.set(TimeUnit.SECONDS.toNanos(10));
    publish("NettyServerHandler", "Stream Error");
    // Then
    assertThat(lines.list).hasSize(3).allMatch(line -> line.getLevel() == Level.WARN);
    assertThat(lines.list.get(2).getKeyValuePairs().toString())
        .contains("source=\"NettyServerHandler\"", "leftOut=\"999\"");
  }

  @Test
  void lineHasNoStackTraceAndIsOneLine() {
    // When
    publish("NettyServerHandler", "Stream Error");
    // Then
    ILoggingEvent line = lines.list.get(0);
    assertThat(line.getThrowableProxy()).isNull();
    assertThat(line.getFormattedMessage()).isEqualTo("Stream Error: frame of the wrong kind");
  }

  @Test
  void longLineIsCut() {
    // When
    publish("NettyServerHandler", "x".repeat(10_000));
    // Then
    assertThat(lines.list.get(0).getFormattedMessage()).hasSize(300);
  }
}
