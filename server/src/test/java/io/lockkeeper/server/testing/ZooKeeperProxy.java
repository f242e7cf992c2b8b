package io.lockkeeper.server.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * A TCP proxy in front of one ZooKeeper server that understands where requests begin and what they
 * ask for, and breaks connections at chosen ones.
 *
 * <p>A rule counts the requests that match it, on all connections; at its n-th one it acts, once.
 */
public final class ZooKeeperProxy implements AutoCloseable {

  private final int targetPort;
  private final ServerSocket listener;
  private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
  private final List<Rule> rules = new CopyOnWriteArrayList<>();
  private final Map<Integer, AtomicLong> requests = new ConcurrentHashMap<>();
  private final AtomicInteger largestRequestBytes = new AtomicInteger();
  private volatile Duration delay = Duration.ZERO;
  private volatile boolean silent;
  private volatile boolean refusing;
  private volatile boolean closed;
  private volatile CountDownLatch held = new CountDownLatch(1);

  /** What a rule does with the request that triggers it. */
  public enum Action {
    /** Breaks the connection; the server never sees the request. */
    CUT_BEFORE,
    /** Lets the server do the request, keeps the reply back and breaks the connection. */
    CUT_AFTER,
    /** Loses the request; the connection lives on. */
    DROP,
    /** Holds the request, and what comes behind it on its connection, until it is let go. */
    HOLD
  }

  private record Rule(Predicate<Request> matches, Action action, AtomicInteger left) {
    boolean triggersOn(Request request) {
      return matches.test(request) && left.decrementAndGet() == 0;
    }
  }

  /** Starts a proxy of the server at {@code targetPort} of the loopback address. */
  public ZooKeeperProxy(int targetPort) {
    this.targetPort = targetPort;
    try {
      listener = new ServerSocket();
      listener.setReuseAddress(true);
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), Ports.free()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    startThread("accept", this::accept);
  }

  /** Returns what a client connects to. */
  public String connectString() {
    return "127.0.0.1:" + listener.getLocalPort();
  }

  /** Acts on the {@code n}-th request from now, counted from 1, that {@code matches}. */
  public void at(int n, Predicate<Request> matches, Action action) {
    rules.add(new Rule(matches, action, new AtomicInteger(n)));
  }

  /** Acts on the {@code n}-th request of {@code opcode} from now, counted from 1. */
  public void at(int n, int opcode, Action action) {
    at(n, request -> request.opcode() == opcode, action);
  }

  /** Lets go of the requests that are held, and of those that will be until the next healing. */
  public void letGo() {
    held.countDown();
  }

  /** Forgets all rules, delays, silence and refusal, and lets go of what is held. */
  public void heal() {
    rules.clear();
    letGo();
    held = new CountDownLatch(1);
    delay = Duration.ZERO;
    silent = false;
    refusing = false;
  }

  /** Holds back every request and every reply for so long. */
  public void delay(Duration each) {
    delay = each;
  }

  /** Swallows everything in both directions, and leaves connections open; new ones too. */
  public void blackhole() {
    silent = true;
    connections.forEach(ProxiedConnection::silence);
  }

  /** Breaks all connections and lets nobody in until healed. */
  public void refuse() {
    refusing = true;
    cutAll();
  }

  /** Breaks all connections; clients may come back at once. */
  public void cutAll() {
    List.copyOf(connections).forEach(ProxiedConnection::cut);
  }

  /** Returns how many requests of {@code opcode} have come. */
  public long count(int opcode) {
    return requests.getOrDefault(opcode, new AtomicLong()).get();
  }

  /** Returns the size of the largest request that has come, without its length field. */
  public int largestRequestBytes() {
    return largestRequestBytes.get();
  }

  /** Returns how many rules have not acted yet. */
  public int pendingRules() {
    return (int) rules.stream().filter(rule -> rule.left().get() > 0).count();
  }

  @Override
  public void close() {
    closed = true;
    letGo();
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cutAll();
  }

  Optional<Action> onRequest(Request request) {
    requests.computeIfAbsent(request.opcode(), any -> new AtomicLong()).incrementAndGet();
    largestRequestBytes.accumulateAndGet(request.bytes(), Math::max);
    List<Action> triggered = new ArrayList<>();
    for (Rule rule : rules) {
      if (rule.triggersOn(request)) {
        triggered.add(rule.action());
      }
    }
    return triggered.stream().findFirst();
  }

  void awaitLetGo() throws IOException {
    try {
      held.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  Duration currentDelay() {
    return delay;
  }

  void onClosed(ProxiedConnection connection) {
    connections.remove(connection);
  }

  private void accept() {
    while (!closed) {
      try {
        Socket client = listener.accept();
        if (refusing) {
          client.close();
        } else {
          serve(client);
        }
      } catch (IOException e) {
        if (!closed) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  private void serve(Socket client) throws IOException {
    Socket server;
    try {
      server = new Socket(InetAddress.getLoopbackAddress(), targetPort);
    } catch (IOException unreachable) {
      client.close();
      return;
    }
    ProxiedConnection connection = new ProxiedConnection(this, client, server);
    connections.add(connection);
    if (silent) {
      connection.silence();
    }
    startThread("requests", connection::pumpRequests);
    startThread("replies", connection::pumpReplies);
    if (closed || refusing) {
      connection.cut();
    }
  }

  private static void startThread(String name, Runnable body) {
    Thread thread = new Thread(body, "zookeeper-proxy-" + name);
    thread.setDaemon(true);
    thread.start();
  }
}
