package io.lockkeeper.server.zookeeper.member;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.lockkeeper.server.zookeeper.record.ClaimRecord;
import io.lockkeeper.server.zookeeper.record.MemberRecord;
import io.lockkeeper.server.zookeeper.record.SessionIdentity;
import io.lockkeeper.server.zookeeper.record.VersionedClaim;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class CopiedHomeTest {

  private static final long SETTLED = TimeUnit.SECONDS.toNanos(12);
  private static final String HOME = "aa";
  private static final MemberRecord OF_OUR_HOME = new MemberRecord("other:7420", HOME);
  private static final Map<String, MemberRecord> US =
      Map.of("us", new MemberRecord("us:7420", HOME));
  private static final Map<String, MemberRecord> BOTH =
      Map.of("us", new MemberRecord("us:7420", HOME), "other", OF_OUR_HOME);

  private final CopiedHome copied = new CopiedHome("us", HOME, SETTLED);
  private final Logger logger = (Logger) LoggerFactory.getLogger(CopiedHome.class);
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

  private static Map<String, VersionedClaim> claimOf(String owner, String home, int version) {
    ClaimRecord record =
        new ClaimRecord(owner, home, new SessionIdentity(1, new byte[16]), 30_000, version, true);
    return Map.of("1", new VersionedClaim(record, version));
  }

  @Test
  void coordinatorOfOurHomeThatComesAfterUsIsToldWithWhatToDo() {
    // Given
    copied.look(US, Map.of(), 0);
    // When
    copied.look(BOTH, Map.of(), SETTLED);
    // Then
    assertThat(lines.list).hasSize(1);
    ILoggingEvent line = lines.list.get(0);
    assertThat(line.getLevel()).isEqualTo(Level.ERROR);
    assertThat(line.getFormattedMessage()).contains("copy", "Stop one of them", "\"home\"");
    assertThat(line.getKeyValuePairs())
        .hasToString("[coordinator=\"other\", address=\"other:7420\"]");
  }

  @Test
  void whoHadTheHomeBeforeUsIsNoneThatLives() {
    // Given
    Map<String, VersionedClaim> left = claimOf("other", HOME, 3);
    // When
    copied.look(BOTH, left, 0);
    copied.look(BOTH, left, SETTLED);
    copied.look(US, claimOf("us", HOME, 4), 2 * SETTLED);
    // Then
    assertThat(lines.list).isEmpty();
  }

  @Test
  void whatIsSeenLateBecauseOurServerWasBehindIsNoSignOfLife() {
    // Given
    copied.look(US, Map.of(), 0);
    // When
    copied.look(BOTH, claimOf("other", HOME, 3), SETTLED - 1);
    copied.look(BOTH, claimOf("other", HOME, 3), SETTLED + 1);
    // Then
    assertThat(lines.list).isEmpty();
  }

  @Test
  void claimThatIsWrittenInOurHomeByAnotherIsASignOfLife() {
    // Given
    copied.look(BOTH, claimOf("us", HOME, 3), 0);
    // When
    copied.look(BOTH, claimOf("other", HOME, 4), SETTLED);
    // Then
    assertThat(lines.list).hasSize(1);
  }

  @Test
  void fightThatGoesOnIsOneLineAMinute() {
    // Given
    copied.look(BOTH, claimOf("us", HOME, 0), 0);
    // When
    for (int second = 0; second < 120; second++) {
      copied.look(
          BOTH, claimOf("other", HOME, second + 1), SETTLED + TimeUnit.SECONDS.toNanos(second));
    }
    // Then
    assertThat(lines.list).hasSize(2);
  }

  @Test
  void coordinatorsOfOtherHomesAndOfNoneAreNoMatter() {
    // Given
    CopiedHome homeless = new CopiedHome("us", "", SETTLED);
    copied.look(US, Map.of(), 0);
    homeless.look(US, Map.of(), 0);
    // When
    copied.look(
        Map.of("other", new MemberRecord("other:7420", "bb")), claimOf("other", "bb", 1), SETTLED);
    homeless.look(
        Map.of("other", new MemberRecord("other:7420", "")), claimOf("other", "", 1), SETTLED);
    // Then
    assertThat(lines.list).isEmpty();
  }
}
