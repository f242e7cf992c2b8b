package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import io.lockkeeper.server.rpc.call.AccessRules;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.Authenticator;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.LimitKey;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.GetLockResponse;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/**
 * Whose a forwarded call is where there is a policy, but nobody can prove who he is: neither a
 * client nor a coordinator.
 */
class ForwardedCallerTest {

  private static final String ADDRESS = "10.0.0.1:1";

  private final SomeRights rights =
      new SomeRights()
          .give("token:root", "", Right.values())
          .give(Identity.ANONYMOUS.name(), "open/", Right.READ);

  private final List<Audit.Entry> audited = new CopyOnWriteArrayList<>();

  @AutoClose
  private final InProcess server =
      InProcess.onRealCoordinator(new AccessRules(false, Authenticator.NONE, rights, audited::add));

  /** Says what a coordinator says of a call that it forwards. */
  private static ClientInterceptor forwardedFor(String caller, String address) {
    Metadata headers = new Metadata();
    headers.put(PeerHeaders.FORWARDED_BY, "c-2");
    headers.put(
        PeerHeaders.CALLER,
        Base64.getEncoder().encodeToString(caller.getBytes(StandardCharsets.UTF_8)));
    headers.put(PeerHeaders.CALLER_ADDRESS, address);
    return MetadataUtils.newAttachHeadersInterceptor(headers);
  }

  private GetLockResponse read(String lock) {
    return server
        .locksNow()
        .withInterceptors(forwardedFor("token:root", ADDRESS))
        .getLock(GetLockRequest.newBuilder().setName(lock).build());
  }

  private OpenLeaseResponse openFrom(String address) {
    return server
        .leasesNow()
        .withInterceptors(forwardedFor("token:root", address))
        .openLease(OpenLeaseRequest.getDefaultInstance());
  }

  @Test
  void nobodyBecomesWhomHeNames() {
    // When
    StatusRuntimeException impostor =
        catchThrowableOfType(StatusRuntimeException.class, () -> read("orders/1"));
    // Then
    assertThat(impostor.getStatus().getCode()).isEqualTo(Code.PERMISSION_DENIED);
    assertThat(audited)
        .singleElement()
        .satisfies(
            entry -> {
              assertThat(entry.identity()).isEqualTo(Identity.ANONYMOUS);
              assertThat(entry.peer()).isNotEqualTo(ADDRESS);
            });
  }

  @Test
  void callIsServedAsOneOfSomebodyWhoIsNotKnown() {
    // When
    GetLockResponse found = read("open/1");
    // Then
    assertThat(found.getLock().getName()).isEqualTo("open/1");
  }

  @Test
  void addressThatIsNamedHasNoLimitsOfItsOwn() {
    // Given
    rights.limit(Identity.ANONYMOUS.name(), Limits.DEFAULTS.with(LimitKey.LEASES, 1));
    assertThat(openFrom("10.0.0.1:1").getLeaseId()).isNotEmpty();
    // When
    StatusRuntimeException second =
        catchThrowableOfType(StatusRuntimeException.class, () -> openFrom("10.0.0.2:1"));
    // Then
    assertThat(second.getStatus().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
    assertThat(second.getStatus().getDescription()).doesNotContain("10.0.0.");
  }
}
