package io.lockkeeper.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.NotAcquiredReason;
import org.junit.jupiter.api.Test;

class ReadWriteTest extends OnInMemoryServer {

  @Test
  void readsShareAndEachHasItsOwnToken() {
    // When
    Heard<AcquireResponse> first = acquire(request(read(LOCK)));
    Heard<AcquireResponse> second = acquire(request(read(LOCK)));
    // Then
    assertThat(events(first)).containsExactly("GRANTED");
    assertThat(events(second)).containsExactly("GRANTED");
    assertThat(token(second)).isGreaterThan(token(first));
    assertThat(state(LOCK).getHoldersList())
        .extracting(Contender::getMode)
        .containsExactly(LockMode.LOCK_MODE_READ, LockMode.LOCK_MODE_READ);
  }

  @Test
  void queuedWriteStopsLaterReadsAndIsNextWhenTheLastReadHasGone() {
    // Given
    AcquireRequest.Builder first = request(read(LOCK));
    AcquireRequest.Builder second = request(read(LOCK));
    acquire(first);
    acquire(second);
    Heard<AcquireResponse> write = acquire(request(write(LOCK)));
    Heard<AcquireResponse> late = acquire(request(read(LOCK)));
    // When
    release(first);
    int holdersAfterOne = state(LOCK).getHoldersCount();
    release(second);
    // Then
    assertThat(holdersAfterOne).isEqualTo(1);
    assertThat(events(write)).containsExactly("QUEUED", "GRANTED");
    assertThat(events(late)).containsExactly("QUEUED");
    assertThat(late.last().getQueued().getPositions(0).getAhead()).isEqualTo(3);
  }

  @Test
  void readsBehindAWriteAreGrantedTogetherWhenItIsReleased() {
    // Given
    AcquireRequest.Builder write = request(write(LOCK));
    acquire(write);
    Heard<AcquireResponse> first = acquire(request(read(LOCK)));
    Heard<AcquireResponse> second = acquire(request(read(LOCK)));
    Heard<AcquireResponse> nextWrite = acquire(request(write(LOCK)));
    // When
    release(write);
    // Then
    assertThat(events(first)).containsExactly("QUEUED", "GRANTED");
    assertThat(events(second)).containsExactly("QUEUED", "GRANTED");
    assertThat(events(nextWrite)).containsExactly("QUEUED");
  }

  @Test
  void waitingWriteThatGivesUpLetsTheReadsBehindItIn() {
    // Given
    acquire(request(read(LOCK)));
    AcquireRequest.Builder write = request(write(LOCK)).setWaitTimeout(span(5));
    acquire(write);
    Heard<AcquireResponse> late = acquire(request(read(LOCK)));
    // When
    pass(5_000);
    // Then
    assertThat(events(late)).containsExactly("QUEUED", "GRANTED");
  }

  @Test
  void ownerOfTheWriteTakesTheReadAtOnceWithTheSameToken() {
    // Given
    String lease = lease();
    Heard<AcquireResponse> write = acquire(request(lease, "me", "write", write(LOCK)));
    Heard<AcquireResponse> queued = acquire(request(write(LOCK)));
    // When
    Heard<AcquireResponse> read = acquire(request(lease, "me", "read", read(LOCK)));
    // Then
    assertThat(events(read)).containsExactly("GRANTED");
    assertThat(token(read)).isEqualTo(token(write));
    assertThat(events(queued)).containsExactly("QUEUED");
    assertThat(state(LOCK).getHoldersCount()).isEqualTo(2);
  }

  @Test
  void downgradeLetsReadsInAndNoWriterBetween() {
    // Given
    String lease = lease();
    AcquireRequest.Builder write = request(lease, "me", "write", write(LOCK));
    AcquireRequest.Builder read = request(lease, "me", "read", read(LOCK));
    acquire(write);
    Heard<AcquireResponse> otherRead = acquire(request(read(LOCK)));
    Heard<AcquireResponse> otherWrite = acquire(request(write(LOCK)));
    acquire(read);
    // When
    release(write);
    // Then
    assertThat(events(otherRead)).containsExactly("QUEUED", "GRANTED");
    assertThat(events(otherWrite)).containsExactly("QUEUED");
    assertThat(state(LOCK).getHoldersList())
        .extracting(Contender::getMode)
        .containsExactly(LockMode.LOCK_MODE_READ, LockMode.LOCK_MODE_READ);
  }

  @Test
  void downgradeOutranksAWriterThatWasFirstInTheQueue() {
    // Given
    String lease = lease();
    AcquireRequest.Builder write = request(lease, "me", "write", write(LOCK));
    AcquireRequest.Builder read = request(lease, "me", "read", read(LOCK));
    acquire(write);
    Heard<AcquireResponse> otherWrite = acquire(request(write(LOCK)));
    acquire(read);
    // When
    release(write);
    Heard<AcquireResponse> late = acquire(request(read(LOCK)));
    // Then
    assertThat(events(otherWrite)).containsExactly("QUEUED");
    assertThat(events(late)).containsExactly("QUEUED");
    release(read);
    assertThat(events(otherWrite)).containsExactly("QUEUED", "GRANTED");
  }

  @Test
  void ownerOfAReadIsRefusedTheWriteAtOnce() {
    // Given
    String lease = lease();
    acquire(request(lease, "me", "read", read(LOCK)));
    // When
    Heard<AcquireResponse> upgrade = acquire(request(lease, "me", "write", write(LOCK)));
    // Then
    assertThat(events(upgrade)).containsExactly("NOT_ACQUIRED");
    assertThat(upgrade.last().getNotAcquired().getReason())
        .isEqualTo(NotAcquiredReason.NOT_ACQUIRED_REASON_WOULD_DEADLOCK);
    assertThat(upgrade.last().getNotAcquired().getMessage()).contains(LOCK, "upgrade");
    assertThat(state(LOCK).getQueueLength()).isZero();
  }

  @Test
  void downgradedOwnerIsRefusedTheWriteAgain() {
    // Given
    String lease = lease();
    AcquireRequest.Builder write = request(lease, "me", "write", write(LOCK));
    acquire(write);
    acquire(request(lease, "me", "read", read(LOCK)));
    release(write);
    // When
    Heard<AcquireResponse> again = acquire(request(lease, "me", "again", write(LOCK)));
    // Then
    assertThat(events(again)).containsExactly("NOT_ACQUIRED");
  }

  @Test
  void anotherOwnerOfTheSameLeaseIsAContenderOfItsOwn() {
    // Given
    String lease = lease();
    acquire(request(lease, "me", "write", write(LOCK)));
    // When
    Heard<AcquireResponse> other = acquire(request(lease, "you", "read", read(LOCK)));
    Heard<AcquireResponse> nobody = acquire(request(lease, "", "nobody", read(LOCK)));
    // Then
    assertThat(events(other)).containsExactly("QUEUED");
    assertThat(events(nobody)).containsExactly("QUEUED");
  }

  @Test
  void lockInUseAsOneKindIsRefusedAsAnotherByName() {
    // Given
    acquire(request(read(LOCK)));
    // When
    Heard<AcquireResponse> exclusive = acquire(request(exclusive(LOCK)));
    Heard<AcquireResponse> permits = acquire(request(permits(LOCK, 1, 2)));
    // Then
    assertThat(exclusive.ends)
        .singleElement()
        .matches(s -> s.getCode() == Status.Code.FAILED_PRECONDITION)
        .matches(s -> String.valueOf(s.getDescription()).contains("READ_WRITE"));
    assertThat(permits.ends)
        .singleElement()
        .matches(s -> s.getCode() == Status.Code.FAILED_PRECONDITION);
    assertThat(state(LOCK).getHoldersCount()).isEqualTo(1);
  }

  @Test
  void freedLockMayBeUsedAsAnotherKind() {
    // Given
    AcquireRequest.Builder read = request(read(LOCK));
    acquire(read);
    release(read);
    // When
    Heard<AcquireResponse> exclusive = acquire(request(exclusive(LOCK)));
    // Then
    assertThat(events(exclusive)).containsExactly("GRANTED");
  }
}
