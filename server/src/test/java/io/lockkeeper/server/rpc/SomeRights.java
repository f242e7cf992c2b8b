package io.lockkeeper.server.rpc;

import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.security.Authority;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.server.security.Right;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Gives each identity some rights on the locks of one prefix. */
final class SomeRights implements Authority {

  private record Granted(String prefix, Set<Right> rights) {}

  private final Map<String, Granted> granted = new ConcurrentHashMap<>();
  private final Map<String, Limits> limits = new HashMap<>();
  private final Map<String, Integer> namespaces = new HashMap<>();

  SomeRights give(String identity, String prefix, Right... rights) {
    granted.put(identity, new Granted(prefix, Set.of(rights)));
    return this;
  }

  SomeRights limit(String identity, Limits most) {
    limits.put(identity, most);
    return this;
  }

  SomeRights limitNamespace(String namespace, int acquisitions) {
    namespaces.put(namespace, acquisitions);
    return this;
  }

  @Override
  public boolean permits(Identity identity, Right right, LockName lock) {
    return permitsAll(identity, right, lock.value());
  }

  @Override
  public boolean permitsAll(Identity identity, Right right, String prefix) {
    Granted has = granted.get(identity.name());
    return has != null
        && prefix.startsWith(has.prefix())
        && has.rights().stream().anyMatch(given -> given.implies(right));
  }

  @Override
  public Optional<String> nextPermitted(Identity identity, Right right, String from) {
    Optional<String> prefix =
        Optional.ofNullable(granted.get(identity.name()))
            .filter(has -> permitsAll(identity, right, has.prefix()))
            .map(Granted::prefix);
    return prefix
        .filter(from::startsWith)
        .map(start -> from)
        .or(() -> prefix.filter(start -> start.compareTo(from) > 0));
  }

  @Override
  public Limits limitsOf(Identity identity) {
    return limits.getOrDefault(identity.name(), Limits.DEFAULTS);
  }

  @Override
  public int maxAcquisitionsOf(String namespace) {
    return namespaces.getOrDefault(namespace, Integer.MAX_VALUE);
  }
}
