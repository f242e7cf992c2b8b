package io.lockkeeper.server.core.lock;

import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** The kinds of locks that this server knows: those that the class path names as services. */
public final class Kinds {

  private static final List<Kind> ALL =
      ServiceLoader.load(Kind.class, Kind.class.getClassLoader()).stream()
          .map(ServiceLoader.Provider::get)
          .toList();

  private Kinds() {}

  /** Returns the mode that a marker names, or empty if no kind knows it. */
  public static Optional<Mode> parse(String marker) {
    for (Kind kind : ALL) {
      Optional<Mode> mode = kind.parse(marker);
      if (mode.isPresent()) {
        return mode;
      }
    }
    return Optional.empty();
  }
}
