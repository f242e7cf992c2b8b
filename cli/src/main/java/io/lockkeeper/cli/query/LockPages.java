package io.lockkeeper.cli.query;

import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.ListLocksResponse;
import io.lockkeeper.v1.LockState;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Reads the locks in use, page by page. */
final class LockPages {

  private static final int PAGE = 1_000;

  private LockPages() {}

  /** Hands on each page of the locks whose names begin with a prefix, ordered by name. */
  static void read(Servers servers, String prefix, Consumer<List<LockState>> page) {
    String token = "";
    do {
      ListLocksRequest request =
          ListLocksRequest.newBuilder()
              .setPrefix(prefix)
              .setPageSize(PAGE)
              .setPageToken(token)
              .build();
      ListLocksResponse response = servers.call(stub -> stub.listLocks(request));
      page.accept(response.getLocksList());
      token = response.getNextPageToken();
    } while (!token.isEmpty());
  }

  /** Returns all locks whose names begin with a prefix, ordered by name. */
  static List<LockState> all(Servers servers, String prefix) {
    List<LockState> locks = new ArrayList<>();
    read(servers, prefix, locks::addAll);
    return locks;
  }
}
