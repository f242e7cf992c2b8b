package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.server.coordinator.api.LockHistory;
import io.lockkeeper.server.coordinator.api.WatchFilter;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.PermitsKind;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.GetHistoryRequest;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.ListLeasesRequest;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.PositionQuery;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.UpdateMetadataRequest;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WhoAmIRequest;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Checks requests against the rules of the contract and translates them into what the coordinator
 * takes.
 */
public final class RequestReader {

  /** The longest text about who somebody is, in bytes of UTF-8. */
  static final int MAX_PEOPLE_BYTES = 256;

  private static final int MAX_ID_BYTES = 128;
  private static final int DEFAULT_HISTORY = 20;
  private static final int MAX_WATCHED = 256;
  private static final int MIN_SECRET_CHARS = 32;
  private static final int MAX_SECRET_BYTES = 256;
  private static final Duration MIN_TTL = Duration.ofSeconds(2);

  private RequestReader() {}

  /** A lease to open. */
  public record NewLease(Duration ttl, String holder, Optional<String> secret) {}

  public static NewLease toNewLease(OpenLeaseRequest request, Duration defaultTtl, String peer) {
    Duration ttl = request.hasTtl() ? ttl(request.getTtl()) : defaultTtl;
    return new NewLease(
        ttl, holder("holder", request.getHolder(), peer), chosen(request.getLeaseSecret()));
  }

  private static Optional<String> chosen(String secret) {
    if (secret.isEmpty()) {
      return Optional.empty();
    }
    boolean fits = secret.length() >= MIN_SECRET_CHARS && secret.length() <= MAX_SECRET_BYTES;
    if (!fits || !secret.chars().allMatch(c -> c > ' ' && c <= '~')) {
      throw Fields.invalid(
          "lease_secret",
          "must be "
              + MIN_SECRET_CHARS
              + " to "
              + MAX_SECRET_BYTES
              + " printable ASCII characters, without spaces");
    }
    return Optional.of(secret);
  }

  public static NewLease toNewLease(OpenSession open, Duration defaultTtl, String peer) {
    Duration ttl = open.hasTtl() ? ttl(open.getTtl()) : defaultTtl;
    return new NewLease(
        ttl, holder("holder", open.getHolder(), peer), chosen(open.getLeaseSecret()));
  }

  private static Duration ttl(com.google.protobuf.Duration ttl) {
    return Fields.duration("ttl", ttl, MIN_TTL, Limits.DEFAULTS.maxTtl());
  }

  /** A lease to resume. */
  public record Resumption(LeaseId lease, String secret) {}

  public static Resumption toResumption(OpenSession open) {
    LeaseId lease = Fields.leaseId("lease_id", open.getLeaseId());
    String secret = Fields.required("lease_secret", open.getLeaseSecret());
    if (secret.length() > MAX_SECRET_BYTES) {
      throw Fields.invalid(
          "lease_secret", "must be the secret that came with the lease; it is too long");
    }
    return new Resumption(lease, secret);
  }

  /** An acquisition to release. */
  public record NamedRelease(String requestId, long token) {}

  public static NamedRelease toRelease(ReleaseRequest request) {
    return new NamedRelease(
        requiredId(request.getRequestId()),
        Fields.token("fencing_token", request.getFencingToken(), 0));
  }

  /** What an acquisition says of itself from now on. */
  public record Description(String requestId, Map<String, String> metadata) {}

  public static Description toDescription(UpdateMetadataRequest request) {
    return new Description(
        requiredId(request.getRequestId()), Fields.metadata("metadata", request.getMetadataMap()));
  }

  /** The limit of a lock of permits. */
  public record LimitChange(LockName lock, OptionalInt limit) {}

  public static LimitChange toLimit(ConfigureLockRequest request) {
    LockName lock = Fields.lockName("name", request.getName());
    int limit = Fields.number("limit", request.getLimit(), 0, PermitsKind.MAX_LIMIT);
    return new LimitChange(lock, limit == 0 ? OptionalInt.empty() : OptionalInt.of(limit));
  }

  public static String toRequestId(PositionQuery query) {
    return requiredId(query.getRequestId());
  }

  public static WatchFilter toFilter(WatchRequest request) {
    if (request.getStartRevision() < 0) {
      throw Fields.invalid(
          "start_revision", "must be a revision, or zero; is " + request.getStartRevision());
    }
    if (request.getNamesCount() > MAX_WATCHED) {
      throw Fields.invalid(
          "names", "must be at most " + MAX_WATCHED + " names, are " + request.getNamesCount());
    }
    if (request.getNamesCount() > 0 && !request.getPrefix().isEmpty()) {
      throw Fields.invalid("prefix", "must be empty when names are given");
    }
    Set<LockName> names = new HashSet<>();
    for (int i = 0; i < request.getNamesCount(); i++) {
      names.add(Fields.lockName("names[" + i + "]", request.getNames(i)));
    }
    return new WatchFilter(names, prefix(request.getPrefix()));
  }

  public static String toWatchId(WatchRequest request) {
    Fields.required("watch_id", request.getWatchId());
    return Fields.printable("watch_id", request.getWatchId(), MAX_ID_BYTES);
  }

  /** One lock to show. */
  public record LockQuery(LockName lock, int queueLimit) {}

  public static LockQuery toQuery(GetLockRequest request) {
    return new LockQuery(Fields.lockName("name", request.getName()), Fields.queueLimit(request));
  }

  /** Which holds to show. */
  public record HistoryQuery(LockName lock, int limit) {}

  /** Reads which holds to show. */
  public static HistoryQuery toQuery(GetHistoryRequest request) {
    int limit = request.getLimit() == 0 ? DEFAULT_HISTORY : request.getLimit();
    if (limit < 1 || limit > LockHistory.MAX_HOLDS) {
      throw Fields.invalid("limit", "must be 1 to " + LockHistory.MAX_HOLDS + ", is " + limit);
    }
    return new HistoryQuery(Fields.lockName("name", request.getName()), limit);
  }

  /** A page of locks to show. */
  public record LockPage(String prefix, Optional<LockName> after, int limit) {}

  public static LockPage toPage(ListLocksRequest request) {
    Optional<LockName> after =
        request.getPageToken().isEmpty()
            ? Optional.empty()
            : Optional.of(
                Fields.lockName(
                    "page_token", Fields.pageToken("page_token", request.getPageToken())));
    return new LockPage(
        prefix(request.getPrefix()), after, Fields.pageSize("page_size", request.getPageSize()));
  }

  /**
   * Which locks a caller asks his rights on.
   *
   * @param lock one lock; empty: all under the prefix
   * @param prefix what their names begin with; empty: all
   */
  public record Scope(Optional<LockName> lock, String prefix) {}

  /**
   * Reads which locks a caller asks his rights on.
   *
   * @throws InvalidRequestException if a field is wrong
   */
  public static Scope toScope(WhoAmIRequest request) {
    if (request.getName().isEmpty()) {
      return new Scope(Optional.empty(), prefix(request.getPrefix()));
    }
    if (!request.getPrefix().isEmpty()) {
      throw Fields.invalid("prefix", "must be empty when a name is given");
    }
    return new Scope(Optional.of(Fields.lockName("name", request.getName())), "");
  }

  /** A page of leases to show. */
  public record LeasePage(String afterTag, int limit) {}

  public static LeasePage toPage(ListLeasesRequest request) {
    return new LeasePage(
        Fields.pageToken("page_token", request.getPageToken()),
        Fields.pageSize("page_size", request.getPageSize()));
  }

  /** A token to check. */
  public record TokenQuery(LockName lock, long token) {}

  public static TokenQuery toQuery(CheckTokenRequest request) {
    return new TokenQuery(
        Fields.lockName("name", request.getName()),
        Fields.token("fencing_token", request.getFencingToken(), 1));
  }

  static String requestId(String value) {
    return Fields.printable("request_id", value, MAX_ID_BYTES);
  }

  static String requiredId(String value) {
    return requestId(Fields.required("request_id", value));
  }

  static String holder(String field, String value, String otherwise) {
    String holder = Fields.text(field, value, MAX_PEOPLE_BYTES);
    return holder.isEmpty() ? otherwise : holder;
  }

  static String prefix(String value) {
    return Fields.text("prefix", value, LockName.MAX_BYTES);
  }
}
