package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.lockkeeper.server.rpc.call.HealthReporter;
import io.lockkeeper.server.testing.ViewSamples;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class HealthLogTest {

  private final Logger logger = (Logger) LoggerFactory.getLogger(HealthReporter.class);
  private final BlockingQueue<ILoggingEvent> lines = new LinkedBlockingQueue<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent line) {
          lines.add(line);
        }
      };

  @AutoClose private final InProcess server = new InProcess();

  @BeforeEach
  void listen() {
    logger.setLevel(Level.INFO);
    appender.start();
    logger.addAppender(appender);
  }

  @AfterEach
  void listenNoMore() {
    logger.detachAppender(appender);
    logger.setLevel(null);
  }

  private ILoggingEvent next() throws InterruptedException {
    ILoggingEvent line = lines.poll(60, TimeUnit.SECONDS);
    assertThat(line).as("line of the log").isNotNull();
    return line;
  }

  @Test
  void everyChangeOfHealthIsLoggedWithItsReason() throws InterruptedException {
    // When
    server.coordinator.is(ViewSamples.cutOff());
    ILoggingEvent lost = next();
    server.coordinator.is(ViewSamples.serving());
    ILoggingEvent back = next();
    // Then
    assertThat(lost.getLevel()).isEqualTo(Level.WARN);
    assertThat(lost.getKeyValuePairs().toString())
        .contains("health=\"NOT_SERVING\"", "reason=\"", "is not connected to ZooKeeper");
    assertThat(back.getLevel()).isEqualTo(Level.INFO);
    assertThat(back.getKeyValuePairs())
        .hasToString("[health=\"SERVING\", reason=\"locks can be granted\"]");
  }

  @Test
  void endOfTheEndpointIsAChangeThatIsNoWarning() throws InterruptedException {
    // When
    server.services.goAway("stopping");
    // Then
    ILoggingEvent line = next();
    assertThat(line.getLevel()).isEqualTo(Level.INFO);
    assertThat(line.getKeyValuePairs().toString()).contains("the coordinator stops");
    await().untilAsserted(() -> assertThat(lines).isEmpty());
  }
}
