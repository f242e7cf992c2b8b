package io.lockkeeper.spring.integration;

import com.google.common.collect.MapMaker;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperLock;
import java.util.concurrent.ConcurrentMap;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Spring Integration's lock registry, in Lockkeeper: for aggregators and resequencers that share a
 * message store, file and JDBC adapters, idempotent receivers, or by {@link #obtain} and {@code
 * executeLocked}.
 *
 * <p>A key's lock is the same object for all threads while one of them holds it, waits for it or
 * refers to it; after that it may be another. Nothing needs to be expired, and nothing renewed: the
 * client does that. {@link LockkeeperLock#handle} has the fencing token.
 */
public final class LockkeeperLockRegistry implements LockRegistry<LockkeeperLock> {

  /** The default of what stands before each key. */
  public static final String PREFIX = "spring-integration/";

  private final LockkeeperClient client;
  private final String prefix;
  // A lock that is held refers to itself from its thread, so what is in use is not garbage.
  private final ConcurrentMap<String, LockkeeperLock> locks = new MapMaker().weakValues().makeMap();

  /** Makes one whose locks are named {@code spring-integration/} and the key. */
  public LockkeeperLockRegistry(LockkeeperClient client) {
    this(client, PREFIX);
  }

  /**
   * Makes one whose locks are named as the prefix and the key.
   *
   * @param prefix ends with a slash to be a part of the name by itself; may be empty
   */
  public LockkeeperLockRegistry(LockkeeperClient client, String prefix) {
    this.client = client;
    this.prefix = prefix;
  }

  /**
   * Returns the lock of a key: that of its text, in which a slash is written {@code %2F} and a
   * percent sign {@code %25}.
   *
   * @throws IllegalArgumentException if the prefix and the text are no name of a lock
   */
  @Override
  public LockkeeperLock obtain(Object lockKey) {
    String key = lockKey.toString().replace("%", "%25").replace("/", "%2F");
    return locks.computeIfAbsent(prefix + key, client::asLock);
  }
}
