package io.lockkeeper.server.core.state;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.AcquireCommand.WantedLock;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.CoreSettings;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Quota;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.PathSizes;
import io.lockkeeper.server.core.queue.Mirror;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Counts what each account has on this coordinator, and what all have, and says when that is
 * enough. What was adopted counts as well; it is never taken away for being too much. What outlives
 * leases is counted by the mirror, for the whole cluster.
 */
public final class Accounts {

  /** What an entry takes beside its path and what its client says, about. */
  private static final int ENTRY_BYTES = 192;

  /**
   * Which part of its path bytes an account may have here where more than half of what the whole
   * cluster may have is taken, so that one account never takes the other half.
   */
  private static final int LAST_HALF_PART = 16;

  private final CoreSettings settings;
  private final PathSizes pathSizes;
  private final Mirror mirror;
  final Map<String, Account> accounts = new HashMap<>();
  final Map<String, Integer> acquisitionsByNamespace = new HashMap<>();
  long entryBytes;

  /** What one account has. */
  static final class Account {
    private final String name;
    private Optional<String> tag = Optional.empty();
    int leases;
    int acquisitions;
    long entryBytes;
    long pathBytes;

    Account(String name) {
      this.name = name;
    }

    String tag() {
      if (tag.isEmpty()) {
        tag = Optional.of(AccountTag.of(name));
      }
      return tag.get();
    }

    boolean isEmpty() {
      return leases == 0 && acquisitions == 0;
    }
  }

  Accounts(CoreSettings settings, PathSizes pathSizes, Mirror mirror) {
    this.settings = settings;
    this.pathSizes = pathSizes;
    this.mirror = mirror;
  }

  /** Counts a lease. */
  void opened(Lease lease) {
    if (!lease.account().isEmpty()) {
      Account account = accounts.computeIfAbsent(lease.account(), Account::new);
      account.leases++;
      account.pathBytes += recordBytes(lease);
    }
  }

  /**
   * Counts an adopted lease for its first user, if its record names no identity. An operator acts
   * for others, and is not its user.
   */
  public void claim(Lease lease, Caller caller) {
    if (!lease.account().isEmpty()
        || caller.account().isEmpty()
        || caller.operator()
        || lease.isStream()) {
      return;
    }
    lease.account(caller.account());
    opened(lease);
    Account account = of(lease.account());
    for (Acquisition acquisition : lease.acquisitions().values()) {
      account.acquisitions++;
      account.pathBytes += acquisition.pathBytes();
      account.entryBytes += acquisition.entryBytes();
    }
  }

  /** Counts a lease no more. */
  void closed(Lease lease) {
    Account account = accounts.get(lease.account());
    if (account != null) {
      account.leases--;
      account.pathBytes -= recordBytes(lease);
      dropEmpty(lease.account(), account);
    }
  }

  private int recordBytes(Lease lease) {
    return lease.isStream() ? 0 : pathSizes.leaseBytes();
  }

  /** Counts an acquisition, with the path bytes that it has. */
  void began(Acquisition acquisition) {
    for (String namespace : namespaces(acquisition.command())) {
      acquisitionsByNamespace.merge(namespace, 1, Integer::sum);
    }
    Account account = accounts.get(acquisition.lease().account());
    if (account != null) {
      account.acquisitions++;
      account.pathBytes += acquisition.pathBytes();
    }
    AcquireCommand command = acquisition.command();
    addEntryBytes(acquisition, bytesOf(command, acquisition.lease().holderOf(command)));
  }

  /** Counts an acquisition no more, nor the path bytes that it still has. */
  void ended(Acquisition acquisition) {
    for (String namespace : namespaces(acquisition.command())) {
      acquisitionsByNamespace.computeIfPresent(
          namespace, (name, count) -> count == 1 ? null : Integer.valueOf(count - 1));
    }
    addEntryBytes(acquisition, -acquisition.entryBytes());
    Account account = accounts.get(acquisition.lease().account());
    if (account != null) {
      account.acquisitions--;
      account.pathBytes -= acquisition.pathBytes();
      dropEmpty(acquisition.lease().account(), account);
    }
  }

  private void dropEmpty(String name, Account account) {
    if (account.isEmpty()) {
      accounts.remove(name);
    }
  }

  private void addEntryBytes(Acquisition acquisition, long bytes) {
    acquisition.addEntryBytes(bytes);
    entryBytes += bytes;
    Account account = accounts.get(acquisition.lease().account());
    if (account != null) {
      account.entryBytes += bytes;
    }
  }

  /** Returns why a caller may have no further lease, if that is so. */
  public Optional<Failure> refusalOfLease(Caller caller) {
    int most = caller.quota().leases();
    Account account = of(caller.account());
    return account.leases >= most
        ? Optional.of(tooMany(caller.account(), most + " leases"))
        : refusalOfPaths(account, caller.quota(), pathSizes.leaseBytes());
  }

  /** Returns why a caller may set no further lock's limit, if that is so. */
  public Optional<Failure> refusalOfMarker(Caller caller) {
    Account account = of(caller.account());
    return refusalOfPaths(account, caller.quota(), 0)
        .or(() -> refusalOfMirror(account, caller.quota()));
  }

  /** Every marker counts in the whole cluster, since every coordinator and ZooKeeper keep it. */
  private long pathBytes(Account account) {
    return account.pathBytes + (mirror.hasMarkers() ? mirror.markerBytes(account.tag()) : 0);
  }

  private Optional<Failure> refusalOfPaths(Account account, Quota quota, long more) {
    return pathBytes(account) + more > quota.pathBytes()
        ? Optional.of(
            tooMany(account.name, quota.pathBytes() + " bytes of paths in ZooKeeper (path-bytes)"))
        : Optional.empty();
  }

  /** Every coordinator keeps the queues of all of them, and must be able to read them back. */
  private Optional<Failure> refusalOfMirror(Account account, Quota quota) {
    long nodes = mirror.nodeCount();
    long nameBytes = mirror.nameBytes();
    if (nodes >= settings.maxMirrorEntries()) {
      return Optional.of(
          new Failure(
              Failure.Reason.TOO_MANY,
              "all queues together have "
                  + nodes
                  + " entries and markers, and this coordinator keeps "
                  + settings.maxMirrorEntries()
                  + " in memory: give every coordinator a larger heap, or divide the names among"
                  + " independent services"));
    }
    if (nameBytes >= settings.maxMirrorNameBytes()) {
      return Optional.of(
          new Failure(
              Failure.Reason.TOO_MANY,
              "the names of the locks in use take their limit of "
                  + settings.maxMirrorNameBytes()
                  + " bytes: use shorter names, or divide them among independent services"));
    }
    boolean halfFull =
        nodes >= settings.maxMirrorEntries() / 2 || nameBytes >= settings.maxMirrorNameBytes() / 2;
    return halfFull ? refusalOfLastHalf(account, quota) : Optional.empty();
  }

  private Optional<Failure> refusalOfLastHalf(Account account, Quota quota) {
    long most = quota.pathBytes() / LAST_HALF_PART;
    boolean hasAll = quota.pathBytes() >= settings.maxSessions() * settings.maxSessionPathBytes();
    return hasAll || pathBytes(account) <= most
        ? Optional.empty()
        : Optional.of(
            tooMany(
                account.name,
                most
                    + " bytes of paths in ZooKeeper while half of what the cluster may keep is in use"
                    + " (a sixteenth of path-bytes)"));
  }

  /**
   * Returns why a caller may have no further acquisition, if that is so.
   *
   * @param lease under which; empty if the stream is to be the lease
   */
  public Optional<Failure> refusal(Caller caller, Optional<Lease> lease, AcquireCommand command) {
    Account account = of(accountOf(caller, lease));
    Quota quota = caller.quota();
    if (account.acquisitions >= quota.acquisitions()) {
      return Optional.of(tooMany(account.name, quota.acquisitions() + " acquisitions"));
    }
    for (String namespace : namespaces(command)) {
      int most = quota.acquisitionsIn(namespace);
      if (acquisitionsByNamespace.getOrDefault(namespace, 0) >= most) {
        return Optional.of(
            new Failure(
                Failure.Reason.TOO_MANY,
                "the namespace '"
                    + namespace
                    + "' has its limit of "
                    + most
                    + " acquisitions here"));
      }
    }
    String holder = lease.map(known -> known.holderOf(command)).orElse(command.holder());
    return refusalOfBytes(caller, lease, bytesOf(command, holder))
        .or(() -> refusalOfPaths(account, quota, pathBytesOf(command)))
        .or(() -> refusalOfMirror(account, quota));
  }

  private long pathBytesOf(AcquireCommand command) {
    long sum = 0;
    for (WantedLock lock : command.locks()) {
      sum += pathSizes.entryBytes(lock.name(), lock.mode());
    }
    return sum;
  }

  private Optional<Failure> refusalOfBytes(Caller caller, Optional<Lease> lease, long more) {
    if (lease.isPresent() && lease.get().entryBytes() + more > settings.maxLeaseEntryBytes()) {
      return Optional.of(
          new Failure(
              Failure.Reason.LEASE_FULL,
              "the lease's entries take its limit of "
                  + settings.maxLeaseEntryBytes()
                  + " bytes in ZooKeeper; use another lease, or less metadata"));
    }
    String account = accountOf(caller, lease);
    if (of(account).entryBytes + more > caller.quota().entryBytes()) {
      return Optional.of(tooMany(account, caller.quota().entryBytes() + " bytes of entries"));
    }
    if (entryBytes + more > settings.maxEntryBytes()) {
      return Optional.of(
          new Failure(
              Failure.Reason.TOO_MANY,
              "the coordinator's entries take its limit of "
                  + settings.maxEntryBytes()
                  + " bytes in ZooKeeper"));
    }
    return Optional.empty();
  }

  /**
   * Returns what a request is counted under: as its lease is, whoever uses that. A lease that is
   * nobody's may be used from anywhere.
   */
  private static String accountOf(Caller caller, Optional<Lease> lease) {
    return lease.map(Lease::account).orElse(caller.account());
  }

  /** Returns what an account has, which may be nothing. */
  private Account of(String account) {
    Account known = accounts.get(account);
    return known == null ? new Account(account) : known;
  }

  private static Failure tooMany(String account, String limit) {
    return new Failure(
        Failure.Reason.TOO_MANY,
        "'" + account + "' has its limit of " + limit + " on this coordinator");
  }

  /**
   * Lets an acquisition say something else of itself.
   *
   * @return why it may not, if there is no room for it
   */
  public Optional<Failure> describe(
      Caller caller, Acquisition acquisition, Map<String, String> metadata) {
    long more =
        acquisition.command().locks().size()
            * (bytesOf(metadata) - bytesOf(acquisition.description().metadata()));
    Optional<Failure> refusal =
        more > 0
            ? refusalOfBytes(caller, Optional.of(acquisition.lease()), more)
            : Optional.empty();
    if (refusal.isEmpty()) {
      addEntryBytes(acquisition, more);
      acquisition.description().metadata(metadata);
    }
    return refusal;
  }

  /** Returns how many bytes the entries of a request take in ZooKeeper, about. */
  private static long bytesOf(AcquireCommand command, String holder) {
    long own =
        bytes(command.owner())
            + bytes(command.requestId())
            + bytes(holder)
            + bytesOf(command.metadata());
    return command.locks().size() * (own + ENTRY_BYTES);
  }

  private static long bytesOf(Map<String, String> metadata) {
    long sum = 0;
    for (Map.Entry<String, String> entry : metadata.entrySet()) {
      sum += bytes(entry.getKey()) + bytes(entry.getValue());
    }
    return sum;
  }

  /** Returns how long a text is in JSON: what must be escaped there is longer than it was sent. */
  private static long bytes(String text) {
    long bytes = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < ' ') {
        bytes += 6;
      } else if (c == '"' || c == '\\' || (c >= 0x80 && c < 0x800) || Character.isSurrogate(c)) {
        bytes += 2;
      } else {
        bytes += c < 0x80 ? 1 : 3;
      }
    }
    return bytes;
  }

  private static Set<String> namespaces(AcquireCommand command) {
    if (command.locks().size() == 1) {
      return Set.of(command.locks().get(0).name().namespace());
    }
    Set<String> namespaces = new LinkedHashSet<>();
    for (WantedLock lock : command.locks()) {
      namespaces.add(lock.name().namespace());
    }
    return namespaces;
  }
}
