package io.lockkeeper.server.app;

import io.lockkeeper.server.rpc.call.SteadyTimer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the coordinators that run one after the other on a data directory have in common: a random
 * id in a file. Whoever has it knows that the one before is dead, since the directory is locked for
 * as long as a process has it. Another file has the highest zxid that they saw, written at most
 * once a second and at the end: an ensemble that comes back with a lower one was restored from an
 * older copy, and would serve fencing tokens again.
 *
 * <p>So a directory must not be copied to where two can run at a time: each would take the other
 * for dead.
 */
final class Home implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Home.class);
  private static final String FILE = "home";
  private static final String ZXID_FILE = "zxid";
  private static final int BYTES = 16;
  private static final long RECORD_MILLIS = 1_000;

  private final DirectoryLock lock;
  private final String id;
  private final Path zxidFile;
  private final ScheduledExecutorService timer =
      new SteadyTimer(
          task -> {
            Thread thread = new Thread(task, "lockkeeper-home");
            thread.setDaemon(true);
            return thread;
          });
  private LongSupplier zxid;
  private long recordedZxid;
  private boolean unwritable;

  private Home(DirectoryLock lock, String id, Path zxidFile, long recordedZxid) {
    this.lock = lock;
    this.id = id;
    this.zxidFile = zxidFile;
    this.recordedZxid = recordedZxid;
    this.zxid = () -> recordedZxid;
  }

  /**
   * Takes the home in a directory; makes both if need be.
   *
   * @throws StartException if the directory cannot be used, or another process has it
   */
  static Home take(Path directory) {
    DirectoryLock lock = DirectoryLock.take(directory);
    try {
      Path zxidFile = directory.resolve(ZXID_FILE);
      return new Home(lock, readOrMake(directory.resolve(FILE)), zxidFile, readZxid(zxidFile));
    } catch (IOException e) {
      release(lock);
      throw new StartException("cannot keep a file in " + directory + ": " + e, e);
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
    write(file, id);
    return id;
  }

  /** Whole or not at all, whenever the process or the machine dies. */
  private static void write(Path file, String line) throws IOException {
    Path draft = file.resolveSibling(file.getFileName() + ".new");
    Files.writeString(
        draft,
        line + "\n",
        StandardCharsets.ISO_8859_1,
        StandardOpenOption.CREATE,
        StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE,
        StandardOpenOption.SYNC);
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static long readZxid(Path file) throws IOException {
    if (!Files.exists(file)) {
      return 0;
    }
    String zxid = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    if (!zxid.matches("[0-9a-f]{1,15}")) {
      throw new StartException(
          "the file "
              + file
              + " is damaged; remove it to start without the check of ZooKeeper's data");
    }
    return HexFormat.fromHexDigitsToLong(zxid);
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
      var unusedZxid = readZxid(directory.resolve(ZXID_FILE));
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of("cannot read a file in " + directory + ": " + e);
    } catch (StartException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  /** Returns the id. */
  String id() {
    return id;
  }

  /** Returns the highest zxid that was recorded before this start; zero if none was. */
  long recordedZxid() {
    return recordedZxid;
  }

  /** Records what {@code highest} returns, whenever that changes. Called once. */
  void recordFrom(LongSupplier highest) {
    zxid = highest;
    var unused =
        timer.scheduleWithFixedDelay(
            this::record, RECORD_MILLIS, RECORD_MILLIS, TimeUnit.MILLISECONDS);
  }

  private synchronized void record() {
    long now = zxid.getAsLong();
    if (now == 0 || now == recordedZxid) {
      return;
    }
    try {
      write(zxidFile, Long.toHexString(now));
      recordedZxid = now;
      unwritable = false;
    } catch (IOException e) {
      if (!unwritable) {
        unwritable = true;
        LOG.atWarn()
            .addKeyValue("file", zxidFile)
            .setCause(e)
            .log(
                "cannot record the highest zxid: lost data of ZooKeeper may go unnoticed, trying again");
      }
    }
  }

  private static void release(DirectoryLock lock) {
    try {
      lock.close();
    } catch (IOException e) {
      LOG.atWarn().setCause(e).log("could not give the data directory back");
    }
  }

  /** Records the highest zxid, and gives the directory back. */
  @Override
  public void close() {
    timer.shutdown();
    record();
    release(lock);
  }
}
