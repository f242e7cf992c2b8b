package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Duration;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.LimitKey;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.GetClusterRequest;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.UnfreezeRequest;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What operators try in vain is recorded too, also where the coordinator is not even asked. */
class AuditedRefusalsTest {

  private static final String WHO = "token:root";
  private static final String LEASE = "0123456789abcdef";
  private static final int PER_SECOND = 20;

  /** A page of so many locks counts for what is taken in some seconds. */
  private static final int WIDE = 1_000;

  private final SomeRights rights = new SomeRights().give(WHO, "", Right.values());

  @AutoClose private final SecuredServer secured = new SecuredServer(rights);

  private interface Call {
    void on(SecuredServer server);
  }

  /** One call of an operator: as it should be, and as it must not be. */
  private record Deed(String rpc, Call valid, Call invalid, Map<String, String> details) {
    @Override
    public String toString() {
      return rpc;
    }
  }

  private static Deed admin(String rpc, Call valid, Call invalid, Map<String, String> details) {
    return new Deed("lockkeeper.v1.AdminService/" + rpc, valid, invalid, details);
  }

  private static Call forceRelease(String lock) {
    return server ->
        server.admin("root").forceRelease(ForceReleaseRequest.newBuilder().setName(lock).build());
  }

  private static Call closeLease(String lease) {
    return server ->
        server
            .admin("root")
            .closeLease(AdminServiceCloseLeaseRequest.newBuilder().setLease(lease).build());
  }

  private static Call freeze(String prefix, int seconds) {
    return server ->
        server
            .admin("root")
            .freeze(
                FreezeRequest.newBuilder()
                    .setPrefix(prefix)
                    .setDuration(Duration.newBuilder().setSeconds(seconds))
                    .build());
  }

  private static Call unfreeze(String prefix) {
    return server ->
        server.admin("root").unfreeze(UnfreezeRequest.newBuilder().setPrefix(prefix).build());
  }

  private static Call drain(int seconds) {
    return server ->
        server
            .admin("root")
            .drain(
                DrainRequest.newBuilder()
                    .setGrace(Duration.newBuilder().setSeconds(seconds))
                    .build());
  }

  private static Call configure(String lock) {
    return server ->
        server
            .locksNow("root")
            .configureLock(ConfigureLockRequest.newBuilder().setName(lock).setLimit(2).build());
  }

  static Stream<Deed> deeds() {
    return Stream.of(
        admin("ForceRelease", forceRelease("a"), forceRelease(""), Map.of("lock", "a")),
        admin("CloseLease", closeLease(LEASE), closeLease("?"), Map.of()),
        admin("Freeze", freeze("a", 9), freeze("a", -1), Map.of("prefix", "a")),
        admin("Unfreeze", unfreeze("a"), unfreeze("x".repeat(2_000)), Map.of("prefix", "a")),
        admin("Drain", drain(9), drain(-1), Map.of("grace", "PT9S")),
        new Deed(
            "lockkeeper.v1.LockService/ConfigureLock",
            configure("a"),
            configure(""),
            Map.of("lock", "a", "limit", "2")));
  }

  static Stream<Deed> deedsAndAQuestion() {
    Call cluster =
        server -> server.admin("root").getCluster(GetClusterRequest.getDefaultInstance());
    return Stream.concat(deeds(), Stream.of(admin("GetCluster", cluster, cluster, Map.of())));
  }

  private Audit.Entry refused(Call call) {
    assertThatThrownBy(() -> call.on(secured)).isInstanceOf(StatusRuntimeException.class);
    assertThat(secured.audited).isNotEmpty();
    return secured.audited.get(secured.audited.size() - 1);
  }

  @ParameterizedTest
  @MethodSource("deeds")
  void deedThatIsNoValidRequestIsAudited(Deed deed) {
    // When
    Audit.Entry entry = refused(deed.invalid());
    // Then
    assertThat(entry.action()).isEqualTo(deed.rpc());
    assertThat(entry.identity().name()).isEqualTo(WHO);
    assertThat(entry.result()).isEqualTo("INVALID_ARGUMENT");
    assertThat(entry.message()).isNotEmpty();
  }

  @ParameterizedTest
  @MethodSource("deedsAndAQuestion")
  void deedThatIsRefusedForItsCallersRateIsAuditedWithWhatItIsAbout(Deed deed) {
    // Given: all that may be asked for was asked for
    rights.limit(WHO, Limits.DEFAULTS.with(LimitKey.REQUESTS_PER_SECOND, PER_SECOND));
    var unused =
        secured.locksNow("root").listLocks(ListLocksRequest.newBuilder().setPageSize(WIDE).build());
    // When
    Audit.Entry entry = refused(deed.valid());
    // Then
    assertThat(entry.action()).isEqualTo(deed.rpc());
    assertThat(entry.result()).isEqualTo("RESOURCE_EXHAUSTED");
    assertThat(entry.details()).containsAllEntriesOf(deed.details());
  }
}
