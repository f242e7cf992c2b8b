package io.lockkeeper.server.security;

import io.lockkeeper.server.core.lock.LockName;
import java.util.Optional;

/** The policy of a file that may change. Each decision is made by one state of it. */
public final class LivePolicy implements Authority {

  private final ReloadedFile<Policy> file;

  /** Decides by what {@code file} says at the time. */
  public LivePolicy(ReloadedFile<Policy> file) {
    this.file = file;
  }

  @Override
  public boolean permits(Identity identity, Right right, LockName lock) {
    return file.get().permits(identity, right, lock);
  }

  @Override
  public boolean permitsAll(Identity identity, Right right, String prefix) {
    return file.get().permitsAll(identity, right, prefix);
  }

  @Override
  public Optional<String> nextPermitted(Identity identity, Right right, String from) {
    return file.get().nextPermitted(identity, right, from);
  }

  @Override
  public Limits limitsOf(Identity identity) {
    return file.get().limitsOf(identity);
  }

  @Override
  public int maxAcquisitionsOf(String namespace) {
    return file.get().maxAcquisitionsOf(namespace);
  }
}
