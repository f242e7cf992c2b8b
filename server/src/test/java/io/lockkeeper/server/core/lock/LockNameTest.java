package io.lockkeeper.server.core.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockNameTest {

  private static final long SEED = 20_260_101;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "a/..",
        "../a",
        "a/../b",
        "a/./b",
        "\u0000",
        "a\u0000b",
        "a\nb",
        "\u001f",
        "\u007f",
        "a\u0085b",
        "\ud800",
        "a\udc00b"
      })
  void nameThatCouldLeaveItsDirectoryOrHarmALogIsRefused(String value) {
    assertThat(LockName.problemOf(value)).isPresent();
    assertThatThrownBy(() -> new LockName(value)).isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @CsvSource(
      value = {
        "orders/42 | orders%2F42",
        "a | a",
        "a.b | a.b",
        ".a | %2Ea",
        "a/.b | a%2F.b",
        "... | %2E..",
        "A-Z_09 | A-Z_09",
        "100% | 100%25",
        "%2e%2e | %252e%252e",
        "a b | a%20b",
        "é | %C3%A9",
        "zookeeper | zookeeper"
      },
      delimiter = '|')
  void nameIsEncodedIntoOneZnodeName(String value, String encoded) {
    assertThat(new LockName(value).encoded()).isEqualTo(encoded);
    assertThat(LockName.decode(encoded)).contains(new LockName(value));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a/b",
        "..",
        ".",
        ".a",
        "",
        "%",
        "%4",
        "%41",
        "%2f",
        "%2F",
        "a%2F",
        "%C3",
        "%FF",
        "a b",
        "é",
        "\u0142",
        "a%00b",
        "a%2F..%2Fb"
      })
  void znodeNameThatNoNameEncodesToIsNotDecoded(String encoded) {
    assertThat(LockName.decode(encoded)).isEmpty();
  }

  @Test
  void theLimitsAreExact() {
    // 512 bytes, in letters and in bytes of UTF-8; 16 segments.
    assertThat(LockName.problemOf("x".repeat(512))).isEmpty();
    assertThat(LockName.problemOf("x".repeat(513))).get().asString().contains("512");
    assertThat(LockName.problemOf("é".repeat(256))).isEmpty();
    assertThat(LockName.problemOf("é".repeat(256) + "x")).get().asString().contains("512");
    assertThat(LockName.problemOf("a/".repeat(15) + "a")).isEmpty();
    assertThat(LockName.problemOf("a/".repeat(16) + "a")).get().asString().contains("16");
  }

  @Test
  void namespaceIsTheFirstSegment() {
    assertThat(new LockName("orders/42/x").namespace()).isEqualTo("orders");
    assertThat(new LockName("orders").namespace()).isEqualTo("orders");
  }

  @Test
  void everyGoodNameComesBackFromItsZnodeNameAndNoTwoShareOne() {
    // Given
    Random random = new Random(SEED);
    Map<String, String> byEncoded = new HashMap<>();
    int good = 0;
    for (int i = 0; i < 60_000; i++) {
      String value = randomText(random);
      if (LockName.problemOf(value).isPresent()) {
        continue;
      }
      good++;
      // When
      String encoded = new LockName(value).encoded();
      // Then
      assertThat(encoded)
          .as("seed %d, '%s'", SEED, value)
          .matches("[A-Za-z0-9_%-][A-Za-z0-9_.%-]*");
      assertThat(LockName.decode(encoded)).as("seed %d", SEED).contains(new LockName(value));
      assertThat(Optional.ofNullable(byEncoded.put(encoded, value)).orElse(value)).isEqualTo(value);
    }
    assertThat(good).as("names that were tried").isGreaterThan(10_000);
  }

  @Test
  void decodingAnythingGivesANameThatEncodesToExactlyThatOrNothing() {
    Random random = new Random(SEED);
    for (int i = 0; i < 20_000; i++) {
      String text = randomText(random);
      LockName.decode(text)
          .ifPresent(name -> assertThat(name.encoded()).as("seed %d", SEED).isEqualTo(text));
    }
  }

  private static String randomText(Random random) {
    String alphabet = "abzAZ09_-./.%2eF \u00e9\u20ac\u0142\ud83d\ude00\u007f\u0001~*?\\";
    StringBuilder text = new StringBuilder();
    int length = 1 + random.nextInt(12);
    for (int i = 0; i < length; i++) {
      if (random.nextInt(8) == 0) {
        text.appendCodePoint(random.nextInt(Character.MAX_CODE_POINT + 1));
      } else {
        int[] codePoints = alphabet.codePoints().toArray();
        text.appendCodePoint(codePoints[random.nextInt(codePoints.length)]);
      }
    }
    return text.toString();
  }

  @Test
  void encodedNameOfTheLongestNameFitsAZnode() {
    String worst = "\u20ac".repeat(170) + "%%";
    assertThat(worst.getBytes(StandardCharsets.UTF_8)).hasSize(512);
    assertThat(new LockName(worst).encoded()).hasSize(3 * 512);
  }

  @ParameterizedTest
  @CsvSource({"'', ' '", "orders, orders", "orders/, 'orders/ '", "a/., 'a/. '"})
  void firstNameFromAPrefixIsTheLeastThatBeginsWithIt(String prefix, String first) {
    assertThat(LockName.firstFrom(prefix)).contains(new LockName(first));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "a//", "a/../b"})
  void noNameBeginsWithAPrefixOfNone(String prefix) {
    assertThat(LockName.firstFrom(prefix)).isEmpty();
  }
}
