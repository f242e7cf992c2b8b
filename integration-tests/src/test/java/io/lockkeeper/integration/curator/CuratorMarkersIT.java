package io.lockkeeper.integration.curator;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.Durations;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.LockMode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Nodes of ours in a lock's directory that are no entries of its queue. */
final class CuratorMarkersIT {

  private final Neighbourhood here = Neighbourhood.shared();

  @ParameterizedTest
  @EnumSource(names = {"MUTEX", "READ", "WRITE"})
  void nodesBesideTheEntriesStandBehindThemForCurator(Recipe recipe) {
    // Given: our holder has a delay, which is a node of its own
    String lock = "markers-" + recipe;
    String path = Neighbourhood.path(lock);
    LockMode mode = recipe == Recipe.READ ? LockMode.LOCK_MODE_WRITE : Party.mode(recipe);
    Asking ours =
        Asking.with(
            here.channel(),
            Neighbourhood.request(lock, mode).setLockDelay(Durations.fromSeconds(60)).build());
    ours.awaitGrant();
    assertThat(here.znodes().entries(lock)).anyMatch(name -> name.startsWith("delay-60000-"));

    // When
    Hand billing = here.peer("billing").hand("markers");
    Party theirs = Party.theirs(billing, recipe, path);
    here.awaitEntries(lock, 3);
    List<String> participants = here.peer("shipping").hand("markers").participants(recipe, path);

    // Then
    assertThat(theirs.isGranted()).isFalse();
    assertThat(participants.get(0)).contains(recipe == Recipe.MUTEX ? "-lock-" : "-__");
    ours.release();
    theirs.awaitGrant();
    theirs.release();
  }

  @Test
  void curatorIsGrantedPastADelayThatItDoesNotKnow() {
    // Given: the delay of a holder that was lost
    String path = Neighbourhood.path("markers-lost");
    Asking ours =
        Asking.with(
            here.channel(),
            Neighbourhood.request("markers-lost", LockMode.LOCK_MODE_EXCLUSIVE)
                .setLockDelay(Durations.fromSeconds(60))
                .build());
    ours.awaitGrant();
    Party theirs = Party.theirs(here.peer("billing").hand("markers-lost"), Recipe.MUTEX, path);
    here.awaitEntries("markers-lost", 3);

    // When
    AdminServiceGrpc.newBlockingStub(here.channel())
        .forceRelease(ForceReleaseRequest.newBuilder().setName("markers-lost").build());

    // Then
    theirs.awaitGrant();
    assertThat(here.znodes().entries("markers-lost"))
        .as("the delay is still running for others")
        .anyMatch(name -> name.startsWith("delay-"));
    theirs.release();
  }
}
