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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.StreamSupport;

/** What one scenario has: servers that it scripts, and one client, at least. */
final class Stage implements AutoCloseable {

  /** After a deadline, before the client is asked: clocks of two threads never agree entirely. */
  private static final long MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** How often a client is asked while it is stopped. */
  private static final int QUESTIONS = 5;

  private final String command;
  private final Transcript transcript;
  private final List<ScriptedServer> servers = new CopyOnWriteArrayList<>();
  private final List<ServerSocket> sockets = new ArrayList<>();
  private final List<ClientProcess> clients = new ArrayList<>();
  private final List<Stage> others = new ArrayList<>();
  private boolean over;

  /** A client that asks for the lock "a", or holds it with the token 7. */
  record Held(ScriptedServer server, ServedStream stream, Received open, AcquireRequest request) {}

  Stage(String command, Transcript transcript) {
    this.command = command;
    this.transcript = transcript;
  }

  /** Returns a stage with a client of its own; it ends with this one at the latest. */
  synchronized Stage another() {
    Unmet.unless(!over, "the scenario is over");
    Stage other = new Stage(command, transcript);
    others.add(other);
    return other;
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
      ClientProcess client = new ClientProcess(command, transcript, this::onEndOfClient);
      clients.add(client);
      client.send("open", Map.of("servers", addresses, "ttl_ms", 60_000));
      return client;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void onEndOfClient() {
    servers.forEach(server -> server.endWith("the client has ended"));
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

  /** Asks for the lock "a", which may be kept unused for so long. */
  void acquireKept(String id, long keepMillis) {
    client().send("acquire", Map.of("id", id, "locks", List.of("a"), "keep_ms", keepMillis));
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

  /**
   * A client holds "a" with the token 7, and may keep it unused for so long; its keep-alives wait
   * for the script.
   *
   * @throws LeftOut if the client keeps no locks
   */
  Held heldKept(Terms terms, long keepMillis) {
    ScriptedServer server = server();
    client(server);
    acquireKept("a", keepMillis);
    Optional<ServedStream> stream = streamOr("unsupported", "a", server);
    if (stream.isEmpty()) {
      throw new LeftOut("the client keeps no locks");
    }
    Optional<Held> asks = asksOn(server, stream.get(), terms, 0);
    while (asks.isEmpty()) {
      asks = asksOn(server, server.stream(), terms, 0);
    }
    asks.get().stream().granted(asks.get().request(), 7);
    expectGranted("a", 7);
    return asks.get();
  }

  private Held holdAtFirst(Terms terms, ScriptedServer... used) {
    Held asks = asks(terms, 0, used);
    asks.stream().granted(asks.request(), 7);
    expectGranted("a", 7);
    return asks;
  }

  /** A client asks for "a", and that is all; its open was answered after so many milliseconds. */
  Held asks(Terms terms, long openingMillis, ScriptedServer... used) {
    client(used);
    acquire("a");
    Optional<Held> asks = Optional.empty();
    while (asks.isEmpty()) {
      // A client that has just started may be too slow for itself.
      asks = asksOn(used[0], used[0].stream(), terms, openingMillis);
    }
    // What it has begun elsewhere by then, and given up, is no resume.
    List.of(used).forEach(ScriptedServer::furtherStreams);
    return asks.get();
  }

  private Optional<Held> asksOn(
      ScriptedServer server, ServedStream stream, Terms terms, long openingMillis) {
    Received open = stream.awaitOpen();
    pause(openingMillis);
    stream.opened(open, terms);
    return stream.awaitAcquireOrEnd("a").map(request -> new Held(server, stream, open, request));
  }

  /** Until then, whatever the client opens at the server of "a" resumes its lease and its hold. */
  void servesResumes(Held held, Terms terms, long untilNanos) {
    while (untilNanos - System.nanoTime() > 0) {
      for (ServedStream next : held.server().furtherStreams()) {
        next.resumed(next.awaitResume(held.open()), terms);
        next.awaitAcquireOrEnd("a").ifPresent(again -> next.granted(again, 7));
        next.answersKeepAlives(terms);
      }
      pause(50);
    }
  }

  /** Returns what comes first: a stream at the server, or nothing but a report of that kind. */
  Optional<ServedStream> streamOr(String kind, String id, ScriptedServer server) {
    long giveUpNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(Mailbox.PATIENCE_SECONDS);
    while (giveUpNanos - System.nanoTime() > 0) {
      Optional<ServedStream> next = server.streamIfThere();
      if (next.isPresent() || client().hasReported(kind, id)) {
        return next;
      }
      pause(20);
    }
    throw new Unmet("neither a stream nor the report " + kind + " of " + id + " in 20 s");
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

  /**
   * A client that is stopped is asked meanwhile, several times, and goes on: by then its deadline
   * has passed, and it believes at no moment that it holds.
   */
  void mustNotHoldWhenItGoesOn(String id) {
    client().askWhileItIsStopped(id, QUESTIONS);
    client().resume();
    for (int i = 1; i <= QUESTIONS; i++) {
      Unmet.unless(
          !client().believed(id),
          "the client goes on after its deadline, and believes that it holds "
              + id
              + ": answer "
              + i);
    }
  }

  /** The client told of each request one grant and one ending at most, in this order. */
  void mustHaveOneEndingEach() {
    pause(200);
    for (ClientProcess client : clients) {
      boolean unused = client.believes("settled");
    }
    mustHaveToldNothingTwice();
  }

  private synchronized void mustHaveToldNothingTwice() {
    clients.forEach(client -> client.fates().mustBePlausible());
    others.forEach(Stage::mustHaveToldNothingTwice);
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
    others.forEach(Stage::close);
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
