package io.lockkeeper.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.LockMode;
import io.lockkeeper.client.LockRequest;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.scheduling.annotation.Async;

/** What a {@link Locked} annotation may say. */
class LockedMethodTest {

  private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

  /** Each method has one mistake, or none. */
  @SuppressWarnings({"unused", "EffectivelyPrivate"})
  static class Methods {

    @Locked(value = "${place}/x", waitAtMost = "${wait}", maxHold = "PT2S")
    public void good() {}

    @Locked("a//b")
    public void name() {}

    @Locked("a/#{")
    public void expression() {}

    @Locked(value = "a", waitAtMost = "soon")
    public void duration() {}

    @Locked(value = "a", waitAtMost = "8d")
    public void tooLong() {}

    @Locked(value = "a", maxHold = "99ms")
    public void tooShort() {}

    @Locked(value = "a", mode = LockMode.CUSTOM)
    public void custom() {}

    @Locked(value = "a", limit = 2)
    public void limitWithoutPermits() {}

    @Locked(value = "a", mode = LockMode.PERMITS, limit = -1)
    public void negativeLimit() {}

    @Locked("a")
    private void secret() {}

    @Locked("a")
    public final void fixed() {}

    @Locked("a")
    public static void general() {}

    @Locked("a")
    public CompletableFuture<String> future() {
      return new CompletableFuture<>();
    }

    @Locked("a")
    public Callable<String> callable() {
      return () -> "";
    }

    @Locked("a")
    @Async
    public void async() {}

    @Locked(value = "a", waitAtMost = "0s", ifTaken = Locked.IfTaken.SKIP)
    public int skipsAResult() {
      return 1;
    }

    @Locked(value = "a", ifTaken = Locked.IfTaken.SKIP)
    public void skipsNever() {}
  }

  private LockedMethod read(String name) {
    Method method =
        Arrays.stream(Methods.class.getDeclaredMethods())
            .filter(declared -> declared.getName().equals(name))
            .findFirst()
            .orElseThrow();
    return LockedMethod.of(method, method.getAnnotation(Locked.class), Methods.class, beans);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          name                | segment
          expression          | No ending suffix '}'
          duration            | waitAtMost is a duration such as 500ms or 10s, not "soon"
          tooLong             | 7 days
          tooShort            | 100 ms
          custom              | mode is not one of @Locked: CUSTOM
          limitWithoutPermits | limit is for mode PERMITS, not EXCLUSIVE
          negativeLimit       | limit
          secret              | private, final or static
          fixed               | make it an instance method that is neither private nor final
          general             | private, final or static
          future              | before the work is done
          callable            | before the work is done
          async               | @Async method runs after the lock is released
          skipsAResult        | SKIP is for methods without a result
          skipsNever          | with a waitAtMost
          """)
  void annotationThatCannotWorkIsRefusedByTheNameOfItsMethod(String method, String why) {
    assertThatThrownBy(() -> read(method))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(Methods.class.getName() + "." + method)
        .hasMessageContaining(why);
  }

  @Test
  void propertiesOfTheApplicationStandInNamesAndDurations() {
    // Given
    beans.addEmbeddedValueResolver(
        text -> text.replace("${place}", "berlin").replace("${wait}", "1500ms"));
    // When
    LockRequest request = read("good").request(new Methods(), new Object[0]);
    // Then
    assertThat(request.name()).isEqualTo("berlin/x");
    assertThat(request.waitLimit()).contains(Duration.ofMillis(1500));
    assertThat(request.maxHold()).contains(Duration.ofSeconds(2));
  }
}
