package io.lockkeeper.client.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.WatchResponse;
import org.junit.jupiter.api.Test;

class PermitsTest extends OnInMemoryServer {

  private int configure(int limit) {
    int previous =
        locks
            .configureLock(ConfigureLockRequest.newBuilder().setName(LOCK).setLimit(limit).build())
            .getPreviousLimit();
    clock.settle();
    return previous;
  }

  private static void assertPrecondition(Heard<AcquireResponse> heard, String... words) {
    assertThat(heard.ends)
        .singleElement()
        .matches(s -> s.getCode() == Status.Code.FAILED_PRECONDITION)
        .satisfies(s -> assertThat(s.getDescription()).contains(words));
  }

  @Test
  void permitsAreHeldTogetherUpToTheLimitAndNobodyOvertakes() {
    // Given
    AcquireRequest.Builder two = request(permits(LOCK, 2, 4));
    acquire(two);
    acquire(request(permits(LOCK, 1, 4)));
    // When
    Heard<AcquireResponse> three = acquire(request(permits(LOCK, 3, 4)));
    Heard<AcquireResponse> one = acquire(request(permits(LOCK, 1, 4)));
    // Then
    assertThat(events(three)).containsExactly("QUEUED");
    assertThat(events(one)).containsExactly("QUEUED");
    release(two);
    assertThat(events(three)).containsExactly("QUEUED", "GRANTED");
    assertThat(events(one)).containsExactly("QUEUED");
  }

  @Test
  void holdersOfPermitsShowHowManyOfWhatLimit() {
    // Given
    acquire(request(permits(LOCK, 2, 4)));
    // When
    Contender holder = state(LOCK).getHolders(0);
    // Then
    assertThat(holder.getPermits()).isEqualTo(2);
    assertThat(holder.getLimit()).isEqualTo(4);
  }

  @Test
  void permitsAreNeverReentrantAndAddUp() {
    // Given
    String lease = lease();
    Heard<AcquireResponse> first = acquire(request(lease, "me", "1", permits(LOCK, 1, 2)));
    // When
    Heard<AcquireResponse> second = acquire(request(lease, "me", "2", permits(LOCK, 1, 2)));
    // Then
    assertThat(token(second)).isGreaterThan(token(first));
    assertThat(second.last().getGranted().getGrants(0).getHoldCount()).isEqualTo(1);
    assertThat(state(LOCK).getHoldersCount()).isEqualTo(2);
  }

  @Test
  void ownerThatWouldWaitForItsOwnPermitsIsRefusedAtOnce() {
    // Given
    String lease = lease();
    acquire(request(lease, "me", "1", permits(LOCK, 2, 3)));
    // When
    Heard<AcquireResponse> more = acquire(request(lease, "me", "2", permits(LOCK, 2, 3)));
    Heard<AcquireResponse> other = acquire(request(lease, "you", "3", permits(LOCK, 2, 3)));
    // Then
    assertThat(more.last().getNotAcquired().getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
    assertThat(events(other)).containsExactly("QUEUED");
  }

  @Test
  void limitOtherThanTheQueuesIsRefusedNamingBoth() {
    // Given
    acquire(request(permits(LOCK, 1, 4)));
    // When
    Heard<AcquireResponse> other = acquire(request(permits(LOCK, 1, 5)));
    Heard<AcquireResponse> asTheQueue = acquire(request(permits(LOCK, 3, 0)));
    // Then
    assertPrecondition(other, "4", "5");
    assertThat(events(asTheQueue)).containsExactly("GRANTED");
  }

  @Test
  void noLimitAtAllIsRefused() {
    // When
    Heard<AcquireResponse> unknown = acquire(request(permits(LOCK, 1, 0)));
    // Then
    assertPrecondition(unknown, "limit");
  }

  @Test
  void configuredLimitOutranksTheNamedOne() {
    // Given
    configure(3);
    // When
    Heard<AcquireResponse> other = acquire(request(permits(LOCK, 1, 4)));
    Heard<AcquireResponse> asConfigured = acquire(request(permits(LOCK, 3, 0)));
    Heard<AcquireResponse> tooMany = acquire(request(permits(LOCK, 4, 0)));
    // Then
    assertPrecondition(other, "3", "4");
    assertThat(events(asConfigured)).containsExactly("GRANTED");
    assertThat(tooMany.last().getNotAcquired().getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_LIMIT_TOO_SMALL);
    assertThat(state(LOCK).getConfiguredLimit()).isEqualTo(3);
  }

  @Test
  void growingAdmitsWaitersAtOnce() {
    // Given
    acquire(request(permits(LOCK, 2, 2)));
    Heard<AcquireResponse> waiting = acquire(request(permits(LOCK, 1, 2)));
    Heard<WatchResponse> watch = watch(LOCK);
    // When
    int previous = configure(3);
    // Then
    assertThat(previous).isEqualTo(2);
    assertThat(events(waiting)).containsExactly("QUEUED", "GRANTED");
    assertThat(causes(watch)).containsExactly("LIMIT", "GRANTED");
  }

  @Test
  void shrinkingTakesNothingAwayAndWaitsForReleases() {
    // Given
    AcquireRequest.Builder first = request(permits(LOCK, 1, 3));
    AcquireRequest.Builder second = request(permits(LOCK, 1, 3));
    acquire(first);
    acquire(second);
    acquire(request(permits(LOCK, 1, 3)));
    Heard<AcquireResponse> waiting = acquire(request(permits(LOCK, 1, 3)));
    // When
    configure(2);
    int holders = state(LOCK).getHoldersCount();
    release(first);
    // Then
    assertThat(holders).isEqualTo(3);
    assertThat(events(waiting)).containsExactly("QUEUED");
    release(second);
    assertThat(events(waiting)).containsExactly("QUEUED", "GRANTED");
  }

  @Test
  void waiterThatAsksForMoreThanTheNewLimitIsTold() {
    // Given
    acquire(request(permits(LOCK, 2, 3)));
    Heard<AcquireResponse> three = acquire(request(permits(LOCK, 3, 3)));
    Heard<AcquireResponse> one = acquire(request(permits(LOCK, 1, 3)));
    // When
    configure(2);
    // Then
    assertThat(three.last().getNotAcquired().getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_LIMIT_TOO_SMALL);
    assertThat(three.last().getNotAcquired().getMessage()).contains("2", "3");
    assertThat(events(one)).containsExactly("QUEUED");
  }

  @Test
  void settingTakenBackLeavesTheLimitToTheQueue() {
    // Given
    acquire(request(permits(LOCK, 1, 3)));
    configure(1);
    // When
    int previous = configure(0);
    Heard<AcquireResponse> asTheQueue = acquire(request(permits(LOCK, 2, 0)));
    // Then
    assertThat(previous).isEqualTo(1);
    assertThat(state(LOCK).getConfiguredLimit()).isZero();
    assertThat(events(asTheQueue)).containsExactly("GRANTED");
    assertThat(state(LOCK).getHolders(1).getLimit()).isEqualTo(3);
  }

  @Test
  void configuredLockIsInUseAsPermitsEvenWhileNobodyHoldsAny() {
    // Given
    configure(3);
    // When
    Heard<AcquireResponse> exclusive = acquire(request(exclusive(LOCK)));
    // Then
    assertPrecondition(exclusive, "PERMITS");
  }

  @Test
  void lockOfAnotherKindHasNoLimitToSet() {
    // Given
    acquire(request(exclusive(LOCK)));
    // When // Then
    assertThatThrownBy(() -> configure(3))
        .hasMessageContaining("FAILED_PRECONDITION")
        .hasMessageContaining("MUTEX");
  }
}
