package io.lockkeeper.server.app;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the coordinators that run one after the other on a data directory have in common: a random
 * id in a file. Whoever has it knows that the one before is dead, since the directory is locked for
 * as long as a process has it.
 *
 * <p>So a directory must not be copied to where two can run at a time: each would take the other
 * for dead.
 */
final class Home implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Home.class);
  private static final String FILE = "home";
  private static final int BYTES = 16;

  private final DirectoryLock lock;
  private final String id;

  private Home(DirectoryLock lock, String id) {
    this.lock = lock;
    this.id = id;
  }

  /**
   * Takes the home in a directory; makes both if need be.
   *
   * @throws StartException if the directory cannot be used, or another process has it
   */
  static Home take(Path directory) {
    DirectoryLock lock = DirectoryLock.take(directory);
    try {
      return new Home(lock, readOrMake(directory.resolve(FILE)));
    } catch (IOException e) {
      release(lock);
      throw new StartException("cannot keep the file " + directory.resolve(FILE) + ": " + e, e);
    } catch (RuntimeException e) {
      release(lock);
      throw e;
    }
  }

  private static String readOrMake(Path file) throws IOException {
    if (Files.exists(file)) {
      return read(file);
    }
    byte[] bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    String id = HexFormat.of().formatHex(bytes);
    // Whole or not at all, whenever the process dies.
    Path draft = file.resolveSibling(FILE + ".new");
    Files.writeString(draft, id + "\n", StandardCharsets.ISO_8859_1);
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    return id;
  }

  private static String read(Path file) throws IOException {
    String id = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    if (!id.matches("[0-9a-f]{" + 2 * BYTES + "}")) {
      throw new StartException("the file " + file + " is not one of ours; remove it to begin anew");
    }
    return id;
  }

  /** Returns why the home in a directory cannot be used, if there is one. Takes nothing. */
  static Optional<String> problem(Path directory) {
    Path file = directory.resolve(FILE);
    try {
      if (Files.exists(file)) {
        var unused = read(file);
      }
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of("cannot read the file " + file + ": " + e);
    } catch (StartException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  /** Returns the id. */
  String id() {
    return id;
  }

  private static void release(DirectoryLock lock) {
    try {
      lock.close();
    } catch (IOException e) {
      LOG.atWarn().setCause(e).log("could not give the data directory back");
    }
  }

  /** Gives the directory back. */
  @Override
  public void close() {
    release(lock);
  }
}
