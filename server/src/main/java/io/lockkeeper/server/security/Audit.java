package io.lockkeeper.server.security;

import java.util.Map;

/** Records who did what that matters. Called on any thread; never blocks for long. */
public interface Audit {

  /** The result of what went well; every other result is the name of the status code. */
  String OK = "OK";

  /** The action of a visitor of the pages that name locks. */
  String PAGES = "pages";

  /** The action of a client that asks holders to release a lock. */
  String RELEASE_REQUEST = "lockkeeper.v1.LockService/RequestRelease";

  /** Records nothing. */
  Audit NONE = entry -> {};

  /** Records one entry. */
  void record(Entry entry);

  /**
   * One thing that was done, or was refused. Never with a secret, a token or a lease's id.
   *
   * @param action what: the rpc with its service ({@code lockkeeper.v1.AdminService/ForceRelease}),
   *     or {@link #PAGES}
   * @param identity who
   * @param peer from where: address and port
   * @param result {@link #OK}, or the status code's name
   * @param message what the refusal says; empty where all went well
   * @param details what it was about, such as {@code lock}, {@code lease} (its tag), {@code reason}
   */
  record Entry(
      String action,
      Identity identity,
      String peer,
      String result,
      String message,
      Map<String, String> details) {

    /** Makes the details unmodifiable. */
    public Entry {
      details = Map.copyOf(details);
    }
  }
}
