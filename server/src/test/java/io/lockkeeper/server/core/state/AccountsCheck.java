package io.lockkeeper.server.core.state;

import io.lockkeeper.server.core.api.AcquireCommand.WantedLock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts again what each account has, from what stands. */
public final class AccountsCheck {

  private AccountsCheck() {}

  /**
   * Checks that the accounts are what stands, and nothing once nothing does.
   *
   * @throws AssertionError if they are not
   */
  public static void check(CoreState core) {
    Map<String, List<Long>> counted = new TreeMap<>();
    core.accounts.accounts.forEach(
        (name, has) ->
            counted.put(
                name,
                List.of(
                    (long) has.leases, (long) has.acquisitions, has.entryBytes, has.pathBytes)));
    expect(standing(core), counted);
    Map<String, Integer> namespaces = new HashMap<>();
    long bytes = 0;
    for (Acquisition acquisition : core.acquisitions.values()) {
      acquisition.command().locks().stream()
          .map(WantedLock::name)
          .map(name -> name.namespace())
          .distinct()
          .forEach(name -> namespaces.merge(name, 1, Integer::sum));
      bytes += acquisition.entryBytes();
    }
    expect(namespaces, core.accounts.acquisitionsByNamespace);
    expect(bytes, core.accounts.entryBytes);
    for (Lease lease : core.leases.values()) {
      long own = lease.acquisitions().values().stream().mapToLong(Acquisition::entryBytes).sum();
      expect(own, lease.entryBytes());
    }
  }

  private static Map<String, List<Long>> standing(CoreState core) {
    Map<String, List<Long>> standing = new TreeMap<>();
    core.leases
        .values()
        .forEach(
            lease ->
                add(
                    standing,
                    lease.account(),
                    1,
                    0,
                    0,
                    lease.isStream() ? 0 : core.pathSizes.leaseBytes()));
    core.acquisitions
        .values()
        .forEach(
            one -> add(standing, one.lease().account(), 0, 1, one.entryBytes(), one.pathBytes()));
    standing.remove("");
    return standing;
  }

  private static void add(
      Map<String, List<Long>> standing,
      String account,
      long leases,
      long acquisitions,
      long bytes,
      long pathBytes) {
    List<Long> before = standing.getOrDefault(account, List.of(0L, 0L, 0L, 0L));
    standing.put(
        account,
        List.of(
            before.get(0) + leases,
            before.get(1) + acquisitions,
            before.get(2) + bytes,
            before.get(3) + pathBytes));
  }

  private static void expect(Object standing, Object counted) {
    if (!standing.equals(counted)) {
      throw new AssertionError("what stands is " + standing + ", and what is counted " + counted);
    }
  }
}
