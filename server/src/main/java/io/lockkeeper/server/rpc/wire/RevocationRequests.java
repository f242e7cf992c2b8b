package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.v1.AnswerReleaseRequest;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.RequestReleaseRequest;
import java.time.Duration;
import java.util.Optional;

/** Checks and translates what makes holders give way, and what they say to that. */
public final class RevocationRequests {

  private static final int MAX_REASON_BYTES = 1_024;
  private static final Duration MAX_DEADLINE = Duration.ofDays(7);
  private static final Duration MAX_NEEDS = Duration.ofDays(7);
  private static final Duration MAX_GRACE = Duration.ofHours(1);

  private RevocationRequests() {}

  /** Holders to be asked to give way. */
  public record Wish(LockName lock, String requester, String reason, Optional<Duration> deadline) {}

  public static Wish toWish(RequestReleaseRequest request, String peer) {
    return new Wish(
        Fields.lockName("name", request.getName()),
        RequestReader.holder("requester", request.getRequester(), peer),
        reason(request.getReason()),
        request.hasDeadline()
            ? Optional.of(
                Fields.duration("deadline", request.getDeadline(), Duration.ZERO, MAX_DEADLINE))
            : Optional.empty());
  }

  /** A lock to be taken away; without a grace, at once. */
  public record Force(LockName lock, long token, String reason, Optional<Duration> grace) {}

  public static Force toForce(ForceReleaseRequest request) {
    return new Force(
        Fields.lockName("name", request.getName()),
        Fields.token("fencing_token", request.getFencingToken(), 0),
        reason(request.getReason()),
        Optional.of(Fields.duration("grace", request.getGrace(), Duration.ZERO, MAX_GRACE))
            .filter(grace -> !grace.isZero()));
  }

  /** What a holder says when it was asked to give way. */
  public record HolderReply(String requestId, Duration needs) {}

  public static HolderReply toReply(AnswerReleaseRequest request) {
    String requestId = RequestReader.requiredId(request.getRequestId());
    if (!request.hasNeeds()) {
      throw Fields.invalid("needs", "must be set; zero says that the locks are free soon");
    }
    return new HolderReply(
        requestId, Fields.duration("needs", request.getNeeds(), Duration.ZERO, MAX_NEEDS));
  }

  static String reason(String value) {
    return Fields.text("reason", value, MAX_REASON_BYTES);
  }
}
