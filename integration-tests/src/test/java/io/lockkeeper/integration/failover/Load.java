package io.lockkeeper.integration.failover;

import io.lockkeeper.integration.failover.Inhabitant.Mark;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/**
 * Clients of client-java at work: of every four, one keeps a lock of its own, one takes and
 * releases a lock of its own, two take turns on a lock that four share.
 */
public final class Load implements AutoCloseable {

  private final Rooms rooms = new Rooms();
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
  private final List<Inhabitant> clients = new ArrayList<>();

  private Load() {}

  /** Starts so many clients, and returns when each has had a lock. */
  public static Load start(String addresses, int count, Duration ttl, String prefix) {
    Load load = new Load();
    for (int i = 0; i < count; i++) {
      boolean shares = i % 4 >= 2;
      String lock = prefix + (shares ? "/shared/" + i / 8 : "/own/" + i);
      load.clients.add(
          // Of each of the four, some at every server, be there an even number of them or not.
          new Inhabitant(
              startingAt(i + i / 4, addresses), ttl, lock, i % 4 == 0, load.rooms, load.timer));
    }
    long startNanos = System.nanoTime();
    load.clients.forEach(Inhabitant::start);
    load.awaitMarks(load.clients, startNanos);
    return load;
  }

  /** A client takes the first server that it is told, if that answers. */
  private static String startingAt(int index, String addresses) {
    List<String> rotated = new ArrayList<>(List.of(addresses.split(",", -1)));
    Collections.rotate(rotated, index);
    return String.join(",", rotated);
  }

  /** Returns all clients. */
  List<Inhabitant> clients() {
    return clients;
  }

  /** Returns those whose session stream a coordinator serves. */
  List<Inhabitant> clientsAt(String address) {
    return clients.stream().filter(c -> c.address().filter(address::equals).isPresent()).toList();
  }

  /** Returns those who take and release. */
  public List<Inhabitant> turners() {
    return clients.stream().filter(client -> !client.keeps()).toList();
  }

  /** Waits until each client that takes and releases has noted something from now on. */
  void awaitTurns() {
    awaitMarks(turners(), System.nanoTime());
  }

  /** Waits until each of some clients has noted something after a moment. */
  void awaitMarks(List<Inhabitant> some, long sinceNanos) {
    awaitMarks(some, sinceNanos, Duration.ofMinutes(1));
  }

  /** Waits until each of some clients has noted something after a moment. */
  public void awaitMarks(List<Inhabitant> some, long sinceNanos, Duration patience) {
    Awaitility.await("everybody goes on")
        .atMost(patience)
        .pollInterval(Duration.ofMillis(50))
        .until(() -> some.stream().noneMatch(c -> c.marksSince(sinceNanos).isEmpty()));
  }

  /** Returns how long it took a client from a moment to its next mark. */
  static Duration recovery(Inhabitant client, long sinceNanos) {
    return Duration.ofNanos(client.marksSince(sinceNanos).get(0).nanos() - sinceNanos);
  }

  /** Returns the longest that any client had to do without, since a moment. */
  Duration longestPauseSince(long nanos) {
    return Duration.ofNanos(
        clients.stream()
            .flatMap(client -> client.marksSince(nanos).stream())
            .mapToLong(Mark::pauseNanos)
            .max()
            .orElse(0));
  }

  /** Returns when the first grant after a moment came. */
  long firstGrantSince(long nanos) {
    return clients.stream()
        .flatMap(client -> client.marksSince(nanos).stream())
        .filter(Mark::grant)
        .mapToLong(Mark::nanos)
        .min()
        .orElseThrow();
  }

  /** Returns all that was lost or not acquired. */
  public List<String> losses() {
    return clients.stream().flatMap(client -> client.losses().stream()).toList();
  }

  /** Returns who was inside beside whom. */
  public List<String> violations() {
    return rooms.violations();
  }

  /** Returns who is inside which lock. */
  public Rooms rooms() {
    return rooms;
  }

  /** Returns the locks that clients keep, and those that several take in turn. */
  public Set<String> locks(boolean kept) {
    return clients.stream()
        .filter(client -> kept ? client.keeps() : client.shares())
        .map(Inhabitant::lock)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Returns the longest time between two grants of one client that takes and releases a lock of its
   * own, or from its last to now; times that were over at that moment do not count.
   */
  public Duration longestGapSince(long nanos) {
    return Duration.ofNanos(
        turners().stream()
            .filter(client -> !client.shares())
            .mapToLong(client -> client.longestGapSince(nanos))
            .max()
            .orElse(0));
  }

  /** Returns what all clients were told so far. */
  public Told told() {
    return clients.stream().map(Inhabitant::told).reduce(Told.NOTHING, Told::plus);
  }

  /** Returns how many grants there were. */
  long grants() {
    return rooms.entered();
  }

  @Override
  public void close() {
    clients.forEach(Inhabitant::end);
    timer.shutdown();
    clients.parallelStream().forEach(Inhabitant::close);
  }
}
