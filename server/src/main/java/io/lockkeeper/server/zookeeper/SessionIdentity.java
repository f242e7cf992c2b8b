package io.lockkeeper.server.zookeeper;

/** What it takes to attach to a session. */
final class SessionIdentity {

  private final long id;
  private final byte[] password;

  SessionIdentity(long id, byte[] password) {
    this.id = id;
    this.password = password.clone();
  }

  long id() {
    return id;
  }

  byte[] password() {
    return password.clone();
  }
}
