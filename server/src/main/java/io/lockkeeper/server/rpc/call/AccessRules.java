package io.lockkeeper.server.rpc.call;

import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.Authenticator;
import io.lockkeeper.server.security.Authority;

/**
 * By what the endpoint lets callers in.
 *
 * @param identified whether a caller must prove who he is; if not, only what {@code authority}
 *     leaves to anonymous callers is open
 * @param authenticator knows bearer tokens
 * @param authority knows who may do what
 * @param audit hears of denials, and of what operators do
 */
public record AccessRules(
    boolean identified, Authenticator authenticator, Authority authority, Audit audit) {

  /** Lets everybody do everything. */
  public static final AccessRules OPEN =
      new AccessRules(false, Authenticator.NONE, Authority.OPEN, Audit.NONE);
}
