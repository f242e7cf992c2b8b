package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.SessionKeepAlive;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.UpdateMetadataRequest;
import io.lockkeeper.v1.WatchRequest;
import org.junit.jupiter.api.Test;

/** As how many requests one counts. */
class RequestWeightsTest {

  private static AcquireRequest.Builder locks(int count) {
    AcquireRequest.Builder request = AcquireRequest.newBuilder();
    for (int i = 0; i < count; i++) {
      request.addLocks(LockRequest.newBuilder().setName("l" + i));
    }
    return request;
  }

  @Test
  void requestForLocksCountsEachOfThemWithTheMetadataThatItCarries() {
    assertThat(RequestWeights.of(AcquireRequest.getDefaultInstance())).isEqualTo(2);
    assertThat(RequestWeights.of(locks(64).build())).isEqualTo(64 * 2);
    assertThat(RequestWeights.of(locks(64).putMetadata("k", "v".repeat(4_095)).build()))
        .isEqualTo(64 * 6);
  }

  @Test
  void whatKeepsCountsOnceInASessionAndIsNotWanted() {
    // Given
    SessionRequest keeps =
        SessionRequest.newBuilder().setAcquire(locks(64).addHeldTokens(7)).build();
    SessionRequest wants = SessionRequest.newBuilder().setAcquire(locks(64)).build();
    SessionRequest renews =
        SessionRequest.newBuilder().setKeepAlive(SessionKeepAlive.getDefaultInstance()).build();
    // Then
    assertThat(RequestWeights.of(keeps)).isEqualTo(1);
    assertThat(RequestWeights.wants(keeps)).isFalse();
    assertThat(RequestWeights.of(wants)).isEqualTo(64 * 2);
    assertThat(RequestWeights.wants(wants)).isTrue();
    assertThat(RequestWeights.of(renews)).isEqualTo(1);
    assertThat(RequestWeights.wants(renews)).isFalse();
    // A stream that is a lease by itself holds nothing before.
    assertThat(RequestWeights.of(keeps.getAcquire())).isEqualTo(64 * 2);
  }

  @Test
  void whatIsLookedAtCountsByItsSize() {
    assertThat(RequestWeights.ofList(1)).isEqualTo(1);
    assertThat(RequestWeights.ofList(1_000)).isEqualTo(101);
    assertThat(RequestWeights.of(WatchRequest.getDefaultInstance())).isEqualTo(100);
    assertThat(RequestWeights.of(WatchRequest.newBuilder().addNames("a").addNames("b").build()))
        .isEqualTo(2);
    assertThat(
            RequestWeights.of(
                SessionRequest.newBuilder()
                    .setUpdateMetadata(
                        UpdateMetadataRequest.newBuilder().putMetadata("k", "v".repeat(2_047)))
                    .build()))
        .isEqualTo(3);
  }
}
