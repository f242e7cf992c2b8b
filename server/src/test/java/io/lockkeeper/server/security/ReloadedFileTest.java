package io.lockkeeper.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A file that is read again when it changes. */
class ReloadedFileTest {

  @TempDir private Path directory;
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private final Logger logger = (Logger) LoggerFactory.getLogger(ReloadedFile.class);

  @BeforeEach
  void listen() {
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(log);
  }

  private long errorsLogged() {
    return log.list.stream().filter(event -> event.getLevel() == Level.ERROR).count();
  }

  private static Integer number(byte[] content) {
    return Integer.valueOf(new String(content, StandardCharsets.UTF_8));
  }

  private ReloadedFile<Integer> fileOf(String content) throws IOException {
    Files.writeString(file(), content);
    return new ReloadedFile<>(file(), ReloadedFileTest::number);
  }

  private Path file() {
    return directory.resolve("number");
  }

  @Test
  void newContentIsTakenWhenTwoPollsHaveFoundIt() throws IOException {
    // Given
    ReloadedFile<Integer> reloaded = fileOf("1");
    Files.writeString(file(), "2");

    // When
    boolean first = reloaded.look();
    int between = reloaded.get();
    boolean second = reloaded.look();

    // Then
    assertThat(first).isFalse();
    assertThat(between).isEqualTo(1);
    assertThat(second).isTrue();
    assertThat(reloaded.get()).isEqualTo(2);
    assertThat(reloaded.look()).isFalse();
  }

  @Test
  void fileThatIsBeingWrittenIsNotTakenByHalf() throws IOException {
    // Given
    ReloadedFile<Integer> reloaded = fileOf("1");

    // When
    Files.writeString(file(), "23");
    reloaded.look();
    Files.writeString(file(), "2345");
    reloaded.look();

    // Then
    assertThat(reloaded.get()).isEqualTo(1);
    assertThat(reloaded.look()).isTrue();
    assertThat(reloaded.get()).isEqualTo(2345);
  }

  @Test
  void changeThatKeepsSizeAndTimeIsSeen() throws IOException {
    // Given
    ReloadedFile<Integer> reloaded = fileOf("1");
    FileTime time = Files.getLastModifiedTime(file());
    Files.writeString(file(), "2");
    Files.setLastModifiedTime(file(), time);

    // When
    reloaded.look();
    reloaded.look();

    // Then
    assertThat(reloaded.get()).isEqualTo(2);
  }

  @Test
  void linkThatIsTurnedToAnotherFileIsFollowed() throws IOException {
    // Given
    Files.writeString(directory.resolve("a"), "1");
    Files.writeString(directory.resolve("b"), "2");
    Files.createSymbolicLink(file(), directory.resolve("a"));
    ReloadedFile<Integer> reloaded = new ReloadedFile<>(file(), ReloadedFileTest::number);

    // When
    Files.delete(file());
    Files.createSymbolicLink(file(), directory.resolve("b"));
    reloaded.look();
    reloaded.look();

    // Then
    assertThat(reloaded.get()).isEqualTo(2);
  }

  @Test
  void wrongContentLeavesWhatWasReadBeforeInForceAndIsSaidOnce() throws IOException {
    // Given
    ReloadedFile<Integer> reloaded = fileOf("1");
    Files.writeString(file(), "two");

    // When
    for (int i = 0; i < 5; i++) {
      reloaded.look();
    }

    // Then
    assertThat(reloaded.get()).isEqualTo(1);
    assertThat(reloaded.lastError()).hasValueSatisfying(error -> assertThat(error).contains("two"));
    assertThat(errorsLogged()).isEqualTo(1);
  }

  @Test
  void anotherWrongContentIsSaidAgain() throws IOException {
    // Given
    ReloadedFile<Integer> reloaded = fileOf("1");

    // When
    for (String content : new String[] {"two", "three"}) {
      Files.writeString(file(), content);
      reloaded.look();
      reloaded.look();
    }

    // Then
    assertThat(errorsLogged()).isEqualTo(2);
  }

  @Test
  void fileThatIsPutBackIsCurrentAgain() throws IOException {
    // Given
    ReloadedFile<Integer> reloaded = fileOf("1");
    Files.writeString(file(), "two");
    reloaded.look();
    reloaded.look();

    // When
    Files.writeString(file(), "1");
    reloaded.look();
    reloaded.look();

    // Then
    assertThat(reloaded.lastError()).isEmpty();
  }

  @Test
  void fileThatIsGoneLeavesWhatWasReadBeforeInForce() throws IOException {
    // Given
    ReloadedFile<Integer> reloaded = fileOf("1");
    Files.delete(file());

    // When
    reloaded.look();
    reloaded.look();

    // Then
    assertThat(reloaded.get()).isEqualTo(1);
    assertThat(reloaded.lastError()).contains("does not exist");
    assertThat(errorsLogged()).isEqualTo(1);
  }

  @Test
  void parserThatFailsLeavesTheTimerAlive() throws IOException {
    // Given
    ReloadedFile<Integer> reloaded =
        new ReloadedFile<>(
            Files.writeString(file(), "1"),
            content -> {
              if (content.length > 1) {
                throw new IllegalStateException("a bug");
              }
              return number(content);
            });
    Files.writeString(file(), "22");

    // When
    reloaded.look();
    reloaded.look();

    // Then
    assertThat(reloaded.get()).isEqualTo(1);
    assertThat(reloaded.lastError())
        .hasValueSatisfying(error -> assertThat(error).contains("a bug"));
  }

  @Test
  void fileThatIsWrongAtTheStartIsRefusedByName() throws IOException {
    // Given
    Files.writeString(file(), "one");

    // When // Then
    assertThatThrownBy(() -> new ReloadedFile<>(file(), ReloadedFileTest::number))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(file() + ": ");
    assertThatThrownBy(
            () -> new ReloadedFile<>(directory.resolve("none"), ReloadedFileTest::number))
        .hasMessageContaining("none: does not exist");
    assertThatThrownBy(() -> new ReloadedFile<>(directory, ReloadedFileTest::number))
        .hasMessageContaining("is not a regular file");
  }

  @Test
  @Timeout(30)
  void pipeInPlaceOfTheFileIsRefusedAndNotWaitedFor() throws Exception {
    // Given
    ReloadedFile<Integer> reloaded = fileOf("1");
    Files.delete(file());
    assertThat(new ProcessBuilder("mkfifo", file().toString()).start().waitFor()).isZero();

    // When
    reloaded.look();

    // Then
    assertThat(reloaded.get()).isEqualTo(1);
    assertThat(reloaded.lastError()).contains("cannot be read: it is not a regular file");
  }

  @Test
  void fileThatIsTooLargeIsRefused() throws IOException {
    // Given
    Files.write(file(), new byte[ReloadedFile.MAX_BYTES + 1]);

    // When // Then
    assertThatThrownBy(() -> new ReloadedFile<>(file(), ReloadedFileTest::number))
        .hasMessageContaining("has more than " + ReloadedFile.MAX_BYTES + " bytes");
  }

  @Test
  void livePolicyDecidesByTheFileAsItIs() throws IOException {
    // Given
    String rule = "rules: [{identities: [\"jwt:%s\"], locks: [\"*\"], rights: [read]}]";
    Files.writeString(file(), rule.formatted("a"));
    ReloadedFile<Policy> reloaded = new ReloadedFile<>(file(), Policy::parse);
    LivePolicy policy = new LivePolicy(reloaded);
    boolean before = policy.permitsAll(Identity.of("jwt:b"), Right.READ, "");

    // When
    Files.writeString(file(), rule.formatted("b"));
    reloaded.look();
    reloaded.look();

    // Then
    assertThat(before).isFalse();
    assertThat(policy.permitsAll(Identity.of("jwt:b"), Right.READ, "")).isTrue();
    assertThat(policy.permitsAll(Identity.of("jwt:a"), Right.READ, "")).isFalse();
  }
}
