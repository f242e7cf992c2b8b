package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.server.core.lock.Freeze;
import io.lockkeeper.server.core.lock.LeaseName;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.FreezeRequest;
import io.lockkeeper.v1.UnfreezeRequest;
import java.time.Duration;
import java.util.Optional;

/** Checks and translates what operators ask for. */
public final class AdminRequests {

  private static final Duration MIN_DURATION = Duration.ofSeconds(1);
  private static final Duration MAX_DURATION = Duration.ofDays(365);
  private static final Duration DEFAULT_GRACE = Duration.ofSeconds(30);
  private static final Duration MAX_GRACE = Duration.ofHours(1);

  private AdminRequests() {}

  public static Freeze toFreeze(FreezeRequest request, String requester) {
    return new Freeze(
        RequestReader.prefix(request.getPrefix()),
        RevocationRequests.reason(request.getReason()),
        requester,
        request.hasDuration()
            ? Optional.of(
                Fields.wholeMillis(
                    "duration",
                    Fields.duration("duration", request.getDuration(), MIN_DURATION, MAX_DURATION)))
            : Optional.empty());
  }

  public static String toPrefix(UnfreezeRequest request) {
    return RequestReader.prefix(request.getPrefix());
  }

  /** A lease to close, whosever it is. */
  public record LeaseClosing(LeaseName lease, String reason) {}

  public static LeaseClosing toClosing(AdminServiceCloseLeaseRequest request) {
    return new LeaseClosing(
        Fields.leaseName("lease", request.getLease()),
        RevocationRequests.reason(request.getReason()));
  }

  public static Duration toGrace(DrainRequest request) {
    return request.hasGrace()
        ? Fields.duration("grace", request.getGrace(), Duration.ZERO, MAX_GRACE)
        : DEFAULT_GRACE;
  }
}
