package io.lockkeeper.server.zookeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class HostNamesTest {

  private final Set<String> known = new HashSet<>();
  private final AtomicLong nanos = new AtomicLong();
  private final HostNames names = new HostNames(this::find, nanos::get);
  private final Logger logger = (Logger) LoggerFactory.getLogger(HostNames.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  private InetAddress[] find(String name) throws UnknownHostException {
    if (!known.contains(name)) {
      throw new UnknownHostException(name);
    }
    return new InetAddress[] {InetAddress.getLoopbackAddress()};
  }

  @BeforeEach
  void listen() {
    lines.start();
    logger.setLevel(Level.INFO);
    logger.addAppender(lines);
  }

  @AfterEach
  void listenNoMore() {
    logger.detachAppender(lines);
    logger.setLevel(null);
  }

  @Test
  void nameWithoutAnAddressIsOneLineInHalfAMinuteThatSaysWhatToMend() {
    // When
    for (int i = 0; i < 1_000; i++) {
      assertThat(names.getAllByName("zk-1")).isEmpty();
    }
    nanos.set(TimeUnit.SECONDS.toNanos(30));
    assertThat(names.getAllByName("zk-1")).isEmpty();
    // Then
    assertThat(lines.list).hasSize(2);
    ILoggingEvent line = lines.list.get(0);
    assertThat(line.getLevel()).isEqualTo(Level.WARN);
    assertThat(line.getThrowableProxy()).isNull();
    assertThat(line.getKeyValuePairs()).hasToString("[host=\"zk-1\"]");
    assertThat(line.getFormattedMessage()).contains("--zookeeper");
  }

  @Test
  void eachNameIsToldByItself() {
    // When
    names.getAllByName("zk-1");
    names.getAllByName("zk-2");
    // Then
    assertThat(lines.list).hasSize(2);
  }

  @Test
  void nameThatIsFoundAgainIsToldOnce() {
    // Given
    names.getAllByName("zk-1");
    known.add("zk-1");
    // When
    InetAddress[] found = names.getAllByName("zk-1");
    names.getAllByName("zk-1");
    // Then
    assertThat(found).containsExactly(InetAddress.getLoopbackAddress());
    assertThat(lines.list)
        .extracting(ILoggingEvent::getLevel)
        .containsExactly(Level.WARN, Level.INFO);
  }
}
