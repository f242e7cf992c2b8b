package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Channel;
import io.lockkeeper.server.rpc.call.ConnectionAge;
import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.PreviousEnd;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who comes over HTTP is known, and limited, as if he called over gRPC. */
class InProcessEndpointTest {

  private static final InetSocketAddress HERE = new InetSocketAddress("127.0.0.9", 4711);
  private static final Identity SHOP = Identity.of("dns:shop");

  private final SomeRights rights =
      new SomeRights()
          .give("dns:shop", "shop/", Right.READ, Right.ACQUIRE)
          .give("token:root", "", Right.values());

  @AutoClose private final SecuredServer secured = new SecuredServer(rights);

  @AutoClose("stop")
  private final InProcessEndpoint endpoint =
      new InProcessEndpoint(
          secured.server.services,
          "in-process-test",
          new ConnectionAge(Optional.empty(), new SplittableRandom(1)));

  @BeforeEach
  void start() throws IOException {
    endpoint.start();
  }

  @AfterEach
  void nothingIsAuditedWithoutAnAddress() {
    assertThat(secured.audited).allSatisfy(entry -> assertThat(entry.peer()).isNotEmpty());
  }

  private LockServiceGrpc.LockServiceBlockingStub locks(Channel channel) {
    return LockServiceGrpc.newBlockingStub(channel);
  }

  private static GetLockRequest lock(String name) {
    return GetLockRequest.newBuilder().setName(name).build();
  }

  @Test
  void visitorWithACertificateMayDoWhatItsNameMay() {
    // Given
    Channel channel = endpoint.channel(HERE, Optional.of(SHOP), Optional.empty());
    // When
    String read = locks(channel).getLock(lock("shop/1")).getLock().getName();
    // Then
    assertThat(read).isEqualTo("shop/1");
    assertThatThrownBy(() -> locks(channel).getLock(lock("other/1")))
        .hasMessageContaining("'dns:shop' may not do this");
    assertThat(secured.audited)
        .last()
        .satisfies(entry -> assertThat(entry.peer()).isEqualTo("127.0.0.9:4711"));
  }

  @Test
  void tokenCountsBeforeTheCertificateAndIsAuditedWithTheAddress() {
    // Given
    Channel channel = endpoint.channel(HERE, Optional.of(SHOP), Optional.of("t-root"));
    // When
    var unused =
        AdminServiceGrpc.newBlockingStub(channel)
            .freeze(FreezeRequest.newBuilder().setPrefix("a").build());
    // Then
    Audit.Entry entry = secured.audited.get(secured.audited.size() - 1);
    assertThat(entry.identity().name()).isEqualTo("token:root");
    assertThat(entry.peer()).isEqualTo("127.0.0.9:4711");
    assertThat(entry.result()).isEqualTo(Audit.OK);
  }

  @Test
  void visitorOfWhomNobodyKnowsWhoHeIsIsNotLetIn() {
    // Given
    Channel stranger = endpoint.channel(HERE, Optional.empty(), Optional.empty());
    Channel liar = endpoint.channel(HERE, Optional.of(SHOP), Optional.of("made-up"));
    // Then
    assertThatThrownBy(() -> locks(stranger).getLock(lock("shop/1")))
        .hasMessageContaining("UNAUTHENTICATED");
    assertThatThrownBy(() -> locks(liar).getLock(lock("shop/1")))
        .hasMessageContaining("nobody has this token");
  }

  @Test
  void visitorWhoHangsUpMayHaveCrashed() {
    // Given
    Channel channel = endpoint.channel(HERE, Optional.of(SHOP), Optional.empty());
    AcquireRequest request =
        AcquireRequest.newBuilder().addLocks(LockRequest.newBuilder().setName("shop/1")).build();
    Received<AcquireRequest, AcquireResponse> first = Received.all();
    LockServiceGrpc.newStub(channel).acquire(request, first);
    assertThat(first.next().hasGranted()).isTrue();
    Received<AcquireRequest, AcquireResponse> second = Received.all();
    LockServiceGrpc.newStub(channel).acquire(request, second);
    assertThat(second.next().hasQueued()).isTrue();
    // When
    first.cancel();
    // Then
    assertThat(second.next().getGranted().getGrants(0).getPreviousEnd())
        .isEqualTo(PreviousEnd.PREVIOUS_END_LEASE_EXPIRED);
  }
}
