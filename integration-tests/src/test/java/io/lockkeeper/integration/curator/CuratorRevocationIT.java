package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.ReleaseRequested;
import io.lockkeeper.v1.RequestReleaseRequest;
import io.lockkeeper.v1.RequestReleaseResponse;
import org.junit.jupiter.api.Test;

/** Asking the other side's holder to give way. */
final class CuratorRevocationIT {

  private final Neighbourhood here = Neighbourhood.shared();
  private final Hand billing = here.peer("billing").hand("revocation");

  @Test
  void curatorsRevokerReachesOurHolderWhoKeepsTheLockUntilItReleases() {
    // Given
    String path = Neighbourhood.path("revoke-ours");
    Asking ours = here.ask("revoke-ours", LockMode.LOCK_MODE_EXCLUSIVE);
    ours.awaitGrant();

    // When
    billing.revoke(billing.participants(Recipe.MUTEX, path).get(0));

    // Then
    ReleaseRequested asked = ours.await(EventCase.RELEASE_REQUESTED).value().getReleaseRequested();
    assertThat(asked.getName()).isEqualTo("revoke-ours");
    assertThat(asked.hasDeadline()).isFalse();
    Contender holder = here.lock("revoke-ours").getHolders(0);
    assertThat(holder.getLeaseTag()).as("still the holder, and still known").isNotEmpty();
    ours.release();
    billing.acquire(Recipe.MUTEX, path);
    billing.release(Recipe.MUTEX, path);
  }

  @Test
  void ourRequestForReleaseReachesCuratorsListenerAndTheLockIsHandedOver() {
    // Given
    String path = Neighbourhood.path("revoke-theirs");
    billing.makeRevocable(Recipe.MUTEX, path);
    billing.acquire(Recipe.MUTEX, path);
    Asking ours = here.ask("revoke-theirs", LockMode.LOCK_MODE_EXCLUSIVE);
    ours.await(EventCase.QUEUED);

    // When
    RequestReleaseResponse answer = requestRelease("revoke-theirs");

    // Then
    assertThat(answer.getHoldersList()).hasSize(1);
    assertThat(answer.getHolders(0).getLeaseTag()).isEmpty();
    assertThat(here.peer("billing").awaitRevocation()).isEqualTo(path);
    assertThat(ours.find(EventCase.GRANTED)).as("asked, not forced").isEmpty();
    billing.release(Recipe.MUTEX, path);
    ours.awaitGrant();
    ours.release();
  }

  @Test
  void curatorsHolderWithoutAListenerIsAskedInVainAndKeepsTheLock() {
    // Given
    String path = Neighbourhood.path("revoke-deaf");
    billing.acquire(Recipe.MUTEX, path);
    Asking ours = here.ask("revoke-deaf", LockMode.LOCK_MODE_EXCLUSIVE);
    ours.await(EventCase.QUEUED);

    // When
    RequestReleaseResponse answer = requestRelease("revoke-deaf");

    // Then
    assertThat(answer.getHoldersList()).hasSize(1);
    assertThat(billing.data(billing.participants(Recipe.MUTEX, path).get(0)))
        .isEqualTo("__REVOKE__");
    assertThat(ours.find(EventCase.GRANTED)).isEmpty();
    billing.release(Recipe.MUTEX, path);
    ours.awaitGrant();
    ours.release();
  }

  private RequestReleaseResponse requestRelease(String lock) {
    return here.stub()
        .requestRelease(
            RequestReleaseRequest.newBuilder()
                .setName(lock)
                .setReason("the report is due")
                .setRequester("operator")
                .build());
  }
}
