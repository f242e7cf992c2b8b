package io.lockkeeper.conformance;

import io.lockkeeper.conformance.ClientProcess.Report;
import io.lockkeeper.conformance.ServedStream.Received;
import io.lockkeeper.v1.AcquireRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.StreamSupport;

/** What one scenario has: servers that it scripts, and one client, at least. */
final class Stage implements AutoCloseable {

  /** After a deadline, before the client is asked: clocks of two threads never agree entirely. */
  private static final long MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final String command;
  private final Transcript transcript;
  private final List<ScriptedServer> servers = new ArrayList<>();
  private final List<ServerSocket> sockets = new ArrayList<>();
  private final List<ClientProcess> clients = new ArrayList<>();
  private boolean over;

  /** A client that holds the lock "a" with the token 7. */
  record Held(ScriptedServer server, ServedStream stream, Received open, AcquireRequest request) {}

  Stage(String command, Transcript transcript) {
    this.command = command;
    this.transcript = transcript;
  }

  /** Returns a stage with a client of its own. */
  Stage another() {
    return new Stage(command, transcript);
  }

  // Servers

  /** Starts a server. */
  ScriptedServer server() {
    try {
      ScriptedServer server = new ScriptedServer("s" + (servers.size() + 1), transcript);
      servers.add(server);
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns an address that takes connections and never says a word. */
  String silentAddress() {
    try {
      ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
      sockets.add(socket);
      return "127.0.0.1:" + socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns an address where connections are refused. */
  String deadAddress() {
    String address = silentAddress();
    try {
      sockets.remove(sockets.size() - 1).close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return address;
  }

  // The client

  /** Starts a client that is to use these servers. */
  ClientProcess client(ScriptedServer... used) {
    return client(List.of(used).stream().map(ScriptedServer::address).toList());
  }

  /** Starts a client that is to use these servers. */
  synchronized ClientProcess client(List<String> addresses) {
    Unmet.unless(!over, "the scenario is over");
    try {
      ClientProcess client = new ClientProcess(command, transcript);
      clients.add(client);
      client.send("open", Map.of("servers", addresses, "ttl_ms", 60_000));
      return client;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the first client. */
  ClientProcess client() {
    return clients.get(0);
  }

  /** Asks for locks, for as long as it takes; the first one's name is the request's id. */
  void acquire(String... locks) {
    client().send("acquire", Map.of("id", locks[0], "locks", List.of(locks)));
  }

  void acquireWithin(String lock, long waitMillis) {
    client().send("acquire", Map.of("id", lock, "locks", List.of(lock), "wait_ms", waitMillis));
  }

  void release(String id) {
    client().send("release", Map.of("id", id));
  }

  /** A client holds "a" under these terms; its keep-alives are answered. */
  Held held(Terms terms) {
    Held held = heldOfSilentServer(terms);
    held.stream().answersKeepAlives(terms);
    return held;
  }

  /** A client holds "a" under these terms; its keep-alives wait for the script. */
  Held heldOfSilentServer(Terms terms) {
    return holdAtFirst(terms, server());
  }

  /** A client that knows several servers holds "a", through the first. */
  Held heldAtFirst(Terms terms, ScriptedServer... used) {
    Held held = holdAtFirst(terms, used);
    held.stream().answersKeepAlives(terms);
    return held;
  }

  private Held holdAtFirst(Terms terms, ScriptedServer... used) {
    client(used);
    acquire("a");
    Optional<Held> held = Optional.empty();
    while (held.isEmpty()) {
      held = grantOn(used[0], terms); // A client that has just started may be too slow for itself.
    }
    expectGranted("a", 7);
    return held.get();
  }

  private static Optional<Held> grantOn(ScriptedServer server, Terms terms) {
    ServedStream stream = server.stream();
    Received open = stream.awaitOpen();
    stream.opened(open, terms);
    Optional<AcquireRequest> request = stream.awaitAcquireOrEnd("a");
    request.ifPresent(asked -> stream.granted(asked, 7));
    return request.map(asked -> new Held(server, stream, open, asked));
  }

  // What the client must report, and believe

  /** Waits for a report of one of the kinds. */
  Report expect(String id, String... kinds) {
    return client().await(id, kinds);
  }

  void expectGranted(String id, long... tokens) {
    Report report = expect(id, "granted");
    List<String> told =
        StreamSupport.stream(report.line().path("tokens").spliterator(), false)
            .map(token -> token.asString())
            .toList();
    List<String> expected = Arrays.stream(tokens).mapToObj(Long::toString).toList();
    Unmet.unless(told.equals(expected), "granted with " + expected + ", but reports " + told);
  }

  /** The client holds now, as far as it knows. */
  void mustHold(String id) {
    Unmet.unless(client().believes(id), "the client does not believe that it holds " + id);
    Unmet.unless(!client().hasReported("lost", id), "the client reports that it lost " + id);
  }

  /** The client does not believe now that it holds. */
  void mustNotHold(String id) {
    Unmet.unless(!client().believes(id), "the client believes that it holds " + id);
  }

  /** After the deadline, the client does not believe that it holds, and says so by itself. */
  void mustLoseAt(String id, long deadlineNanos) {
    pauseUntil(deadlineNanos + MARGIN_NANOS);
    long late = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - deadlineNanos);
    Unmet.unless(
        !client().believes(id),
        "asked " + late + " ms after its deadline, the client believes that it holds " + id);
    expect(id, "lost");
  }

  void mustNotHaveReported(String kind, String id) {
    Unmet.unless(!client().hasReported(kind, id), "the client reports " + kind + " of " + id);
  }

  /** Asks the client something, so that all that it was sent before has had time to arrive. */
  void settle() {
    pause(400);
    boolean unused = client().believes("settled");
  }

  // Time

  void pause(long millis) {
    pauseUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis));
  }

  void pauseUntil(long nanos) {
    while (nanos - System.nanoTime() > 0 && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(nanos - System.nanoTime());
    }
  }

  /** Ends everything. From any thread. */
  @Override
  public synchronized void close() {
    over = true;
    clients.forEach(ClientProcess::close);
    servers.forEach(ScriptedServer::close);
    for (ServerSocket socket : sockets) {
      try {
        socket.close();
      } catch (IOException e) {
        transcript.add("kit", "cannot close a socket: " + e.getMessage());
      }
    }
  }
}
