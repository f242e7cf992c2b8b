package io.lockkeeper.server.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HomeTest {

  @TempDir private Path directory;

  @Test
  void idStaysTheSameFromOneProcessToTheNext() {
    // Given
    String before;
    try (Home home = Home.take(directory.resolve("data"))) {
      before = home.id();
    }
    // When
    try (Home home = Home.take(directory.resolve("data"))) {
      // Then
      assertThat(home.id()).isEqualTo(before).matches("[0-9a-f]{32}");
    }
  }

  @Test
  void everyDirectoryHasItsOwn() {
    try (Home one = Home.take(directory.resolve("one"));
        Home other = Home.take(directory.resolve("other"))) {
      // Then
      assertThat(one.id()).isNotEqualTo(other.id());
    }
  }

  @Test
  void homeIsOfOneAtATime() {
    // Given
    try (Home home = Home.take(directory)) {
      // When // Then
      assertThat(home.id()).isNotEmpty();
      assertThatExceptionOfType(StartException.class)
          .isThrownBy(() -> Home.take(directory))
          .withMessageContaining("another process uses the data directory " + directory);
    }
  }

  @Test
  void highestZxidIsRecordedForTheNextProcess() throws IOException {
    // Given
    try (Home home = Home.take(directory)) {
      assertThat(home.recordedZxid()).isZero();
      home.recordFrom(() -> 0x1_0000_002aL);
    }
    // When
    try (Home home = Home.take(directory)) {
      // Then
      assertThat(home.recordedZxid()).isEqualTo(0x1_0000_002aL);
    }
    // And
    Files.writeString(directory.resolve("zxid"), "");
    assertThat(Home.problem(directory)).hasValueSatisfying(why -> assertThat(why).contains("zxid"));
    assertThatExceptionOfType(StartException.class)
        .isThrownBy(() -> Home.take(directory))
        .withMessageContaining(directory.resolve("zxid") + " is damaged");
  }

  @Test
  void fileOfSomebodyElseIsNotTakenForAHomeAndTheDirectoryIsGivenBack() throws IOException {
    // Given
    Files.writeString(directory.resolve("home"), "sweet home\n");
    // When // Then
    assertThatExceptionOfType(StartException.class)
        .isThrownBy(() -> Home.take(directory))
        .withMessageContaining(directory.resolve("home").toString());
    // When
    Files.delete(directory.resolve("home"));
    // Then
    try (Home home = Home.take(directory)) {
      assertThat(home.id()).isNotEmpty();
    }
  }
}
