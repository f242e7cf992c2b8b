package io.lockkeeper.integration.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.integration.docs.Page.Block;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pages whose commands do not do what the page shows are found. */
final class GuideTest {

  @Test
  void lineThatIsNotPrintedOrInAnotherOrderIsFound() {
    // Given
    String printed = "token 7\nno lock in use\n";

    // When
    Optional<String> inOrder = Guide.firstAbsent(List.of("token ...", "no lock in use"), printed);
    Optional<String> swapped = Guide.firstAbsent(List.of("no lock in use", "token ..."), printed);
    Optional<String> notPrinted = Guide.firstAbsent(List.of("no lock"), printed);

    // Then
    assertThat(inOrder).isEmpty();
    assertThat(swapped).contains("token ...");
    assertThat(notPrinted).contains("no lock");
  }

  @Test
  void pageThatShowsWhatIsNotPrintedIsFound(@TempDir Path directory) throws Exception {
    // Given
    Guide guide = guide("```sh\necho one\n```", "```text\none\n```", "```text\ntwo\n```");

    // When
    Optional<String> difference = guide.run(directory, directory);

    // Then
    assertThat(difference).hasValueSatisfying(text -> assertThat(text).contains("line 1:", "two"));
  }

  @Test
  void commandThatFailsIsFoundThoughOthersFollow(@TempDir Path directory) throws Exception {
    // Given
    Guide guide = guide("```sh\necho one\n```", "```sh\nfalse | cat\necho two\n```");

    // When
    Optional<String> difference = guide.run(directory, directory);

    // Then
    assertThat(difference).hasValueSatisfying(text -> assertThat(text).contains("line 4:", "one"));
  }

  @Test
  void portOfThePageIsAnotherOneInCommandsAndInWhatIsShown(@TempDir Path directory)
      throws Exception {
    // Given
    Guide guide =
        guide(
            "```sh\necho \"localhost:7420 7430\"\n[ $LOCKKEEPER_SERVER = localhost:7420 ]\n```",
            "```text\nlocalhost:7420 7430\n```");

    // When
    Optional<String> difference = guide.run(directory, directory);

    // Then
    assertThat(difference).isEmpty();
    assertThat(directory.resolve("output")).content().doesNotContain("7420", "7430");
  }

  @Test
  void processThatAPageLeavesBehindIsEnded(@TempDir Path directory) throws Exception {
    // Given
    Guide guide = guide("```sh\n(sleep 3600 & echo $! > left)\n```");

    // When
    Optional<String> difference = guide.run(directory, directory);

    // Then
    long left = Long.parseLong(Files.readString(directory.resolve("left")).strip());
    assertThat(difference).isEmpty();
    await()
        .untilAsserted(
            () -> assertThat(ProcessHandle.of(left).filter(GuideTest::isAtWork)).isEmpty());
  }

  @Test
  void blockThatIsNotRunIsLeftOutWithWhatItPrints() {
    // Given
    String page =
        """
        <!-- not run: needs Docker -->
        ```sh
        docker ps
        ```

        ```text
        nothing
        ```
        <!-- not run: -->

          ```sh
          helm
          ```
        """;

    // When
    Guide guide = guide(page);

    // Then
    assertThat(guide.isRunnable()).isFalse();
    assertThat(guide.skipped())
        .extracting(Block::line, Block::lines, Block::reason)
        .containsExactly(
            tuple(2, List.of("docker ps"), Optional.of("needs Docker")),
            tuple(11, List.of("helm"), Optional.of("")));
  }

  private static Guide guide(String... blocks) {
    return new Guide(Page.parse("planted.md", String.join("\n", blocks)));
  }

  /**
   * A killed process that is not a child of ours stays visible until a processor has had time to
   * end it, and stays in the process table until its parent asks for its exit code.
   */
  private static boolean isAtWork(ProcessHandle process) {
    return process.isAlive() && process.info().command().isPresent();
  }
}
