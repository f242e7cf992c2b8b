package io.lockkeeper.client.internal.views;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockLostException;
import io.lockkeeper.client.LockedTask;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.PreviousEnd;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whose interrupt is whose, when a lock is lost under a task. */
class LockedTasksTest {

  private final Lock lock = new Lock("outer");
  private final Lock inner = new Lock("inner");

  @AfterEach
  void leaveNoInterrupt() {
    boolean unused = Thread.interrupted();
  }

  private static void awaitInterrupt() throws InterruptedException {
    new CountDownLatch(1).await();
  }

  private static boolean isInterrupted() {
    return Thread.currentThread().isInterrupted();
  }

  private static <X extends Exception> Throwable run(LockHandle held, LockedTask<Boolean, X> task) {
    return catchThrowable(() -> LockedTasks.run(held, task));
  }

  @Test
  void interruptOfTheLossDoesNotOutliveTheTask() {
    // When
    Throwable thrown =
        run(
            lock,
            held -> {
              lock.lose();
              awaitInterrupt();
              return true;
            });
    // Then
    assertThat(thrown).isInstanceOf(LockLostException.class);
    assertThat(isInterrupted()).isFalse();
  }

  @Test
  void interruptOfTheCallersThatWasThereBeforeTheLossIsKept() {
    // When
    Throwable thrown =
        run(
            lock,
            held -> {
              Thread.currentThread().interrupt();
              lock.lose();
              return true;
            });
    // Then
    assertThat(thrown).isInstanceOf(LockLostException.class);
    assertThat(isInterrupted()).isTrue();
  }

  @Test
  void interruptOfTheCallersThatEndedTheTaskIsKeptWhenTheLossReplacesIt() {
    // When
    Throwable thrown =
        run(
            lock,
            held -> {
              Thread.currentThread().interrupt();
              lock.lose();
              awaitInterrupt();
              return true;
            });
    // Then
    assertThat(thrown).isInstanceOf(LockLostException.class);
    assertThat(thrown.getSuppressed()).singleElement().isInstanceOf(InterruptedException.class);
    assertThat(isInterrupted()).isTrue();
  }

  @Test
  void interruptOfTheLossDoesNotOutliveATaskThatSetsItAgain() {
    // When
    Throwable thrown =
        run(
            lock,
            held -> {
              lock.lose();
              try {
                awaitInterrupt();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw e;
              }
              return true;
            });
    // Then
    assertThat(thrown).isInstanceOf(LockLostException.class);
    assertThat(isInterrupted()).isFalse();
  }

  @Test
  void innerTaskDoesNotEatTheInterruptOfTheOuterOne() {
    // Given
    boolean[] interrupted = new boolean[1];
    // When
    Throwable thrown =
        run(
            lock,
            held -> {
              Throwable ofInner =
                  run(
                      inner,
                      nested -> {
                        inner.lose();
                        lock.lose();
                        return true;
                      });
              interrupted[0] = isInterrupted();
              throw (LockLostException) ofInner;
            });
    // Then
    assertThat(interrupted[0]).isTrue();
    assertThat(thrown)
        .isInstanceOfSatisfying(
            LockLostException.class, e -> assertThat(e.lock()).isEqualTo("outer"));
    assertThat(isInterrupted()).isFalse();
  }

  @Test
  void outerTaskIsInterruptedOnceMoreWhenTheInnerOneHasTakenItsInterrupt() {
    // Given
    boolean[] interrupted = new boolean[1];
    // When
    Throwable thrown =
        run(
            lock,
            held -> {
              Throwable ofInner =
                  run(
                      inner,
                      nested -> {
                        lock.lose();
                        inner.lose();
                        awaitInterrupt();
                        return true;
                      });
              interrupted[0] = isInterrupted();
              throw (LockLostException) ofInner;
            });
    // Then
    assertThat(interrupted[0]).isTrue();
    assertThat(thrown).isInstanceOf(LockLostException.class);
    assertThat(isInterrupted()).isFalse();
  }

  @Test
  void lossOfTheInnerLockOnlyDoesNotInterruptTheOuterTask() throws Exception {
    // When
    boolean interrupted =
        LockedTasks.run(
            lock,
            held -> {
              Throwable ofInner =
                  run(
                      inner,
                      nested -> {
                        inner.lose();
                        return true;
                      });
              assertThat(ofInner).isInstanceOf(LockLostException.class);
              return isInterrupted();
            });
    // Then
    assertThat(interrupted).isFalse();
  }

  @Test
  void lossThatAnActionOfTheTaskBringsAboutInterruptsAfterTheAction() {
    // Given
    boolean[] interrupted = new boolean[2];
    // When
    Throwable thrown =
        run(
            lock,
            held -> {
              LockedTasks.undisturbed(
                  () -> {
                    lock.lose();
                    interrupted[0] = isInterrupted();
                  });
              interrupted[1] = isInterrupted();
              return true;
            });
    // Then
    assertThat(thrown).isInstanceOf(LockLostException.class);
    assertThat(interrupted).containsExactly(false, true);
    assertThat(isInterrupted()).isFalse();
  }

  @Test
  void whateverATaskThrowsTheLockIsReleased() {
    // When / Then
    assertThatThrownBy(
            () ->
                LockedTasks.run(
                    lock,
                    held -> {
                      throw LockedTasksTest.<RuntimeException>undeclared(new Undeclared());
                    }))
        .isInstanceOf(Undeclared.class);
    assertThat(lock.closed).isTrue();
  }

  @Test
  void errorOfATaskSuppressesTheLossAndAnExceptionIsSuppressedByIt() {
    // When
    Throwable ofError =
        run(
            lock,
            held -> {
              lock.lose();
              throw new AssertionError("a fault");
            });
    Throwable ofException =
        run(
            inner,
            held -> {
              inner.lose();
              throw new IOException("disk full");
            });
    // Then
    assertThat(ofError).isInstanceOf(AssertionError.class);
    assertThat(ofError.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
    assertThat(ofException).isInstanceOf(LockLostException.class);
    assertThat(ofException.getSuppressed()).singleElement().isInstanceOf(IOException.class);
  }

  /** What only other languages throw without declaring it, and neither exception nor error. */
  private static final class Undeclared extends Throwable {
    private static final long serialVersionUID = 1L;
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> T undeclared(Throwable failure) throws T {
    throw (T) failure;
  }

  /** A lock that is lost when a test says so. */
  private static final class Lock implements LockHandle {
    private final String name;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private boolean closed;

    Lock(String name) {
      this.name = name;
    }

    void lose() {
      lost.complete(LossReason.FORCED);
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public long fencingToken() {
      return 1;
    }

    @Override
    public PreviousEnd previousEnd() {
      return PreviousEnd.UNKNOWN;
    }

    @Override
    public boolean isValid() {
      return !closed && !lost.isDone();
    }

    @Override
    public Duration remaining() {
      return isValid() ? Duration.ofSeconds(10) : Duration.ZERO;
    }

    @Override
    public long validUntilNanos() {
      return 0;
    }

    @Override
    public void checkValid() {}

    @Override
    public CompletionStage<LossReason> lost() {
      return lost;
    }

    @Override
    public CompletableFuture<Void> releaseAsync() {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {
      closed = true;
      Optional<LossReason> reason = Optional.ofNullable(lost.getNow(null));
      if (reason.isPresent()) {
        throw new LockLostException(name, reason.get());
      }
    }
  }
}
