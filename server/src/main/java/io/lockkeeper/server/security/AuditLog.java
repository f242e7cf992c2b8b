package io.lockkeeper.server.security;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes the audit as lines of JSON, one object each, with {@code time}, {@code id}, {@code
 * action}, {@code identity}, {@code peer}, {@code result}, {@code message} and {@code details}. All
 * but ASCII is escaped, so that no name can look like another or steer a terminal.
 *
 * <p>Callers only put an entry into a bounded queue; one thread writes. Entries that find the queue
 * full, or cannot be written, are counted, and a line says how many. Limited ({@link
 * RepeatedEntries}) are denials that are alike; release requests, which clients send; the denials
 * of one identity; and its successes, for each action. So nobody can push the entries of others, or
 * its own first ones, out of the files that are kept, or hide one action behind many others.
 */
public final class AuditLog implements Audit, AutoCloseable {

  static final int MAX_QUEUED = 10_000;

  /** How many denials that are alike are written in {@link #DENIALS_WINDOW}. */
  static final int MAX_DENIALS = 20;

  static final Duration DENIALS_WINDOW = Duration.ofSeconds(10);

  /**
   * How many denials of one identity, and how many successes of one identity and action, are
   * written in {@link #IDENTITY_WINDOW}.
   */
  static final int MAX_OF_IDENTITY = 1_000;

  static final Duration IDENTITY_WINDOW = Duration.ofMinutes(10);

  private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);
  private static final int MAX_KINDS_OF_DENIALS = 1_000;
  private static final int MAX_KINDS_OF_IDENTITIES = 10_000;
  private static final int TICK_MILLIS = 1_000;
  private static final int CLOSE_LIMIT_MILLIS = 5_000;

  /** This log itself, in lines that it writes about itself. */
  private static final Identity SELF = Identity.of("lockkeeper");

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private final Sink sink;
  private final LongSupplier nanoClock;
  private final RepeatedEntries denials =
      new RepeatedEntries(MAX_DENIALS, DENIALS_WINDOW, MAX_KINDS_OF_DENIALS);
  private final RepeatedEntries identities =
      new RepeatedEntries(MAX_OF_IDENTITY, IDENTITY_WINDOW, MAX_KINDS_OF_IDENTITIES);

  /** An empty element only wakes the writer. */
  private final BlockingQueue<Optional<Stamped>> queue = new ArrayBlockingQueue<>(MAX_QUEUED);

  /** Lines of one run have this in common, so that an id is never used twice. */
  private final String run = HexFormat.of().toHexDigits(new SecureRandom().nextInt());

  private final AtomicLong ids = new AtomicLong();
  private final AtomicLong droppedInAll = new AtomicLong();
  private final AtomicLong droppedUntold = new AtomicLong();
  private final Thread writer = new Thread(this::write, "audit");
  private volatile boolean closed;
  private boolean failing;

  /** Where lines go. Used by one thread at a time. */
  interface Sink extends Closeable {

    /** Writes a line, its end included. */
    void write(byte[] line) throws IOException;
  }

  /** An entry, and when it was recorded. */
  private record Stamped(Instant time, Entry entry) {}

  /** Writes to {@code sink}, and closes it at the end. */
  AuditLog(Sink sink, LongSupplier nanoClock) {
    this.sink = sink;
    this.nanoClock = nanoClock;
    writer.setDaemon(true);
    writer.start();
  }

  /**
   * Writes to a file that is renamed when it has grown, or to standard output.
   *
   * @throws IOException if the file cannot be opened
   */
  public static AuditLog to(Target target) throws IOException {
    Sink sink =
        target.file().isPresent()
            ? new AuditFile(target.file().get(), target.maxBytes(), target.keep())
            : AuditFile.standardOutput();
    return new AuditLog(sink, System::nanoTime);
  }

  /**
   * Where the audit goes.
   *
   * @param file empty: standard output
   * @param maxBytes how large a file may get before it is renamed
   * @param keep how many renamed files are kept
   */
  public record Target(Optional<Path> file, long maxBytes, int keep) {}

  @Override
  public void record(Entry entry) {
    long now = nanoClock.getAsLong();
    boolean ok = entry.result().equals(Audit.OK);
    RepeatedEntries.Kind kind =
        new RepeatedEntries.Kind(entry.action(), entry.identity(), entry.result());
    if ((!ok || entry.action().equals(Audit.RELEASE_REQUEST))
        && denials.count(kind, now).number() > MAX_DENIALS) {
      return;
    }
    // Every action can be denied to strangers: their denials share one limit.
    RepeatedEntries.Count count =
        identities.count(
            ok
                ? kind
                : new RepeatedEntries.Kind(
                    RepeatedEntries.ANY, entry.identity(), RepeatedEntries.ANY),
            now);
    if (count.number() <= MAX_OF_IDENTITY) {
      offer(entry);
    } else if (count.number() == MAX_OF_IDENTITY + 1) {
      offer(
          count
              .kind()
              .entry(
                  "the limit of "
                      + MAX_OF_IDENTITY
                      + " of these within "
                      + IDENTITY_WINDOW.toSeconds()
                      + " s is reached: further ones are counted, and not written",
                  Map.of()));
    }
  }

  private void offer(Entry entry) {
    if (closed || !queue.offer(Optional.of(new Stamped(Instant.now(), entry)))) {
      drop();
    }
  }

  /** Returns how many entries were lost since the start. */
  public long dropped() {
    return droppedInAll.get();
  }

  private void drop() {
    droppedInAll.incrementAndGet();
    droppedUntold.incrementAndGet();
  }

  private void write() {
    try {
      while (!(closed && queue.isEmpty())) {
        Optional<Stamped> next = queue.poll(TICK_MILLIS, TimeUnit.MILLISECONDS);
        if (next != null) {
          next.ifPresent(this::write);
        }
        tellDropped();
        denials.countedUntil(nanoClock.getAsLong()).forEach(this::writeNow);
        identities.countedUntil(nanoClock.getAsLong()).forEach(this::writeNow);
      }
      denials.countedSoFar().forEach(this::writeNow);
      identities.countedSoFar().forEach(this::writeNow);
      tellDropped();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void tellDropped() {
    long untold = droppedUntold.getAndSet(0);
    if (untold > 0) {
      String message = untold + (untold == 1 ? " entry dropped" : " entries dropped");
      Entry line = new Entry("audit", SELF, "", "dropped", message, Map.of());
      if (!tryWrite(new Stamped(Instant.now(), line))) {
        droppedUntold.addAndGet(untold);
      }
    }
  }

  private void writeNow(Entry entry) {
    write(new Stamped(Instant.now(), entry));
  }

  private void write(Stamped stamped) {
    if (!tryWrite(stamped)) {
      drop();
    }
  }

  private boolean tryWrite(Stamped stamped) {
    try {
      sink.write((json(stamped) + "\n").getBytes(StandardCharsets.US_ASCII));
      failing = false;
      return true;
    } catch (IOException | RuntimeException e) {
      report(e); // whatever it is, the thread must live: without it nothing is written any more
      return false;
    }
  }

  private void report(Exception e) {
    if (!failing) {
      failing = true;
      LOG.atError().setCause(e).log("the audit cannot be written; entries are lost, and counted");
    }
  }

  private String json(Stamped stamped) {
    Entry entry = stamped.entry();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("time", stamped.time().toString());
    fields.put("id", run + "-" + ids.incrementAndGet());
    fields.put("action", entry.action());
    fields.put("identity", entry.identity().name());
    fields.put("peer", entry.peer());
    fields.put("result", entry.result());
    fields.put("message", entry.message());
    fields.put("details", new TreeMap<>(entry.details()));
    return JSON.writeValueAsString(fields);
  }

  /** Writes what was recorded, waiting at most some seconds, and closes. Later entries are lost. */
  @Override
  public void close() {
    closed = true;
    queue.offer(Optional.empty()); // if it is full the writer is awake anyway
    try {
      writer.join(CLOSE_LIMIT_MILLIS);
      if (writer.isAlive()) {
        LOG.atWarn().addKeyValue("left", queue.size()).log("the audit is closed before its end");
        writer.interrupt();
        return; // the writer is inside the sink
      }
      sink.close();
    } catch (IOException e) {
      report(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
