package io.lockkeeper.server.rpc.call;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.v1.ErrorReason;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** Counts what the endpoint does beyond answering, and how calls end. Thread-safe. */
public final class RpcStats {

  public final LongAdder forwarded = new LongAdder();
  public final LongAdder suspicions = new LongAdder();
  public final LongAdder sentAway = new LongAdder();

  private final Map<Code, LongAdder> ended = adders(Code.values());
  private final Map<ErrorReason, LongAdder> refused = adders(ErrorReason.values());

  private static <K> Map<K, LongAdder> adders(K[] keys) {
    return Arrays.stream(keys)
        .collect(Collectors.toUnmodifiableMap(key -> key, key -> new LongAdder()));
  }

  /** Counts a call that has ended, or was refused. */
  void callEnded(Status status, Metadata trailers) {
    ended.getOrDefault(status.getCode(), new LongAdder()).increment();
    if (!status.isOk()) {
      Refusal.reasonOf(status, trailers).ifPresent(this::refused);
    }
  }

  /** Counts a request that was refused on a stream that goes on. */
  public void refused(ErrorReason reason) {
    refused.getOrDefault(reason, new LongAdder()).increment();
  }

  /** Returns how many calls have ended with the code so far. */
  public long ended(Code code) {
    return ended.getOrDefault(code, new LongAdder()).sum();
  }

  /** Returns how many requests were refused for the reason so far. */
  public long refusals(ErrorReason reason) {
    return refused.getOrDefault(reason, new LongAdder()).sum();
  }
}
