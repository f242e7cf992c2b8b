package io.lockkeeper.server.zookeeper.member;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lockkeeper.server.zookeeper.record.MemberRecord;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class SharedAddressTest {

  private static final long EXPIRY = TimeUnit.SECONDS.toNanos(18);
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final SharedAddress shared = new SharedAddress("us", EXPIRY);
  private final Logger logger = (Logger) LoggerFactory.getLogger(SharedAddress.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @BeforeEach
  void listen() {
    lines.start();
    logger.addAppender(lines);
  }

  @AfterEach
  void listenNoMore() {
    logger.detachAppender(lines);
  }

  private static Map<String, MemberRecord> members(String ours, String theirs) {
    return Map.of("us", new MemberRecord(ours, ""), "them", new MemberRecord(theirs, ""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"locks.example:7420", "LOCKS.example:7420", "locks.example.:7420"})
  void memberThatAdvertisesOurAddressForLongIsAnErrorWithBothIdsOnceAMinute(String theirs) {
    // Given
    Map<String, MemberRecord> both = members("locks.example:7420", theirs);
    shared.look(both, 0);
    // When
    shared.look(both, EXPIRY);
    shared.look(both, EXPIRY + MINUTE - 1);
    shared.look(both, EXPIRY + MINUTE);
    // Then
    assertThat(lines.list).hasSize(2);
    ILoggingEvent line = lines.list.get(0);
    assertThat(line.getLevel()).isEqualTo(Level.ERROR);
    assertThat(line.getKeyValuePairs())
        .extracting(pair -> pair.value)
        .containsExactly("us", "them", theirs);
    assertThat(line.getFormattedMessage()).contains("--advertise");
  }

  @Test
  void formerCoordinatorAtOurAddressIsNoErrorUntilItsSessionExpires() {
    // Given
    Map<String, MemberRecord> both = members("pod-0:7420", "pod-0:7420");
    shared.look(both, 0);
    shared.look(both, EXPIRY - 1);
    shared.look(members("pod-0:7420", "pod-1:7420"), EXPIRY - 1);
    // When
    shared.look(both, EXPIRY);
    // Then
    assertThat(lines.list).isEmpty();
  }

  @Test
  void membersOfDifferentAddressesAreNoError() {
    // Given
    shared.look(members("a:7420", "a:7421"), 0);
    // When
    shared.look(members("a:7420", "a:7421"), EXPIRY);
    // Then
    assertThat(lines.list).isEmpty();
  }
}
