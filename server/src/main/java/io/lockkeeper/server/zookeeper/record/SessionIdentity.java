package io.lockkeeper.server.zookeeper.record;

import java.util.Arrays;

/** What it takes to attach to a session. */
public final class SessionIdentity {

  private final long id;
  private final byte[] password;

  public SessionIdentity(long id, byte[] password) {
    this.id = id;
    this.password = password.clone();
  }

  public long id() {
    return id;
  }

  public byte[] password() {
    return password.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SessionIdentity session
        && id == session.id
        && Arrays.equals(password, session.password);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(id);
  }
}
