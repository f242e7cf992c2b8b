package io.lockkeeper.server.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class NoticeLogTest {

  private static final LeaseId LEASE = new LeaseId(0x1111_1111_1111_1111L, 0x2222_2222_2222_2222L);

  private final Logger logger = (Logger) LoggerFactory.getLogger(NoticeLog.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @BeforeEach
  void listen() {
    logger.setLevel(Level.DEBUG);
    lines.start();
    logger.addAppender(lines);
  }

  @AfterEach
  void listenNoMore() {
    logger.detachAppender(lines);
    logger.setLevel(null);
  }

  private static Effect.Tell tell(Notice notice) {
    return new Effect.Tell(new StreamId(1), "request-7", 1, 1, notice);
  }

  @Test
  void grantIsLoggedUnderTheRequestWithItsTokenAndWithoutTheSecretOfTheLease() {
    // Given
    Notice.Grant grant =
        new Notice.Grant(new LockName("orders/42"), new FencingToken(9), Optional.empty(), 1, 0);
    // When
    NoticeLog.told(tell(new Notice.Granted(LEASE, List.of(grant), 1)));
    // Then
    ILoggingEvent line = lines.list.get(0);
    assertThat(line.getLevel()).isEqualTo(Level.DEBUG);
    assertThat(line.getFormattedMessage()).isEqualTo("request granted");
    assertThat(line.getKeyValuePairs().toString())
        .contains("request=\"request-7\"", "1111111111111111", "orders/42", "9")
        .doesNotContain("2222222222222222");
  }

  @Test
  void endsAreLoggedWithTheirReason() {
    // When
    NoticeLog.told(tell(new Notice.Lost(Notice.LossReason.FORCED, "")));
    NoticeLog.told(tell(new Notice.NotAcquired(Notice.RefusalReason.TIMED_OUT, "")));
    NoticeLog.refused(
        new Effect.Refuse(
            new StreamId(1), "request-8", new Failure(Failure.Reason.UNAVAILABLE, "later")));
    // Then
    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly("request lost", "request not acquired", "request refused");
    assertThat(lines.list)
        .extracting(line -> line.getKeyValuePairs().toString())
        .containsExactly(
            "[request=\"request-7\", reason=\"FORCED\"]",
            "[request=\"request-7\", reason=\"TIMED_OUT\"]",
            "[request=\"request-8\", reason=\"UNAVAILABLE\"]");
  }

  @Test
  void nothingIsLoggedAboveDebug() {
    // Given
    logger.setLevel(Level.INFO);
    // When
    NoticeLog.told(tell(new Notice.Released()));
    // Then
    assertThat(lines.list).isEmpty();
  }
}
