package io.lockkeeper.server.core.lock;

import java.util.Optional;

/**
 * A kind of lock: a family of {@link Mode}s that may stand in one queue. A new kind is one class
 * that implements this, named in {@code META-INF/services/io.lockkeeper.server.core.Kind}.
 */
public interface Kind {

  /** Returns what people call it: {@code MUTEX}. */
  String name();

  /**
   * Returns the mode that entries with this marker are in, or empty if they are not of this kind.
   *
   * @param marker what stands between the uuid and the sequence number in an entry's name; never
   *     begins with {@code limit-} or {@code delay-}, which name the server's own nodes
   */
  Optional<Mode> parse(String marker);
}
