package io.lockkeeper.integration.fuzz;

import com.google.protobuf.Duration;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.lockkeeper.integration.fuzz.Callers.Caller;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.SessionRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One caller and what is sent in his name, and in that of others: calls of every kind at once. */
final class Attacker implements Runnable {

  private static final int MOST_OPEN_CALLS = 160;
  private static final int MOST_STREAMS = 24;
  private static final int MOST_CONVERSATIONS = 8;
  private static final int MOST_MESSAGES = 60;
  private static final int CONVERSATION_PERCENT = 25;
  private static final int PATIENCE_SECONDS = 60;

  private static final Metadata.Key<String> FORWARDED_BY = header("lockkeeper-forwarded-by");
  private static final Metadata.Key<String> CALLER = header("lockkeeper-caller");
  private static final Metadata.Key<String> CALLER_ADDRESS = header("lockkeeper-caller-address");

  private final Caller caller;
  private final Callers callers;
  private final Map<Caller, List<ManagedChannel>> channels;
  private final Findings findings;
  private final Loot loot;
  private final BooleanSupplier another;
  private final Spared spared;
  private final List<Rpc> conversational = Rpc.all().stream().filter(Rpc::takesMany).toList();
  private final List<Rpc> single = Rpc.all().stream().filter(rpc -> !rpc.takesMany()).toList();
  private final Random random;
  private final Words words;
  private final RequestMaker requests;
  private final Semaphore calls = new Semaphore(MOST_OPEN_CALLS);
  private final Deque<Call> streams = new ArrayDeque<>();
  private final List<Call> conversations = new ArrayList<>();

  /** Prepares; {@code another} says each time whether one more request is wanted. */
  Attacker(
      FuzzedCluster cluster,
      Caller caller,
      Findings findings,
      Loot loot,
      Spared spared,
      long seed,
      BooleanSupplier another) {
    this.caller = caller;
    this.callers = cluster.callers();
    this.channels =
        Stream.of(caller, Caller.IMPOSTOR, Caller.NOBODY)
            .distinct()
            .collect(Collectors.toMap(each -> each, cluster::connectToAll));
    this.findings = findings;
    this.loot = loot;
    this.spared = spared;
    this.another = another;
    this.random = new Random(seed);
    this.words = new Words(random, loot, List.of(Witness.KNOWN_LOCK, "tenant-b/guessed"));
    this.requests = new RequestMaker(random, words);
  }

  private static Metadata.Key<String> header(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  /** One call. What it was sent last is told with what came of it. */
  private final class Call extends ClientCall.Listener<byte[]> {
    private final Rpc rpc;
    private final Guise guise;
    private final int coordinator = random.nextInt(FuzzedCluster.SIZE);
    private final ClientCall<byte[], byte[]> call;
    private volatile byte[] last = new byte[0];
    private volatile boolean ended;
    private int sent;

    Call(Rpc rpc) {
      this.rpc = rpc;
      this.guise = guise();
      this.call =
          channels
              .get(guise.connected(caller))
              .get(coordinator)
              .newCall(
                  rpc.call(),
                  CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS));
      call.start(this, headers(guise));
      call.request(Integer.MAX_VALUE);
    }

    /** Returns whether the server lets the call do what only operators may. */
    boolean isOperators() {
      return caller == Caller.OPERATOR && guise == Guise.OWN;
    }

    /** Returns whether the request may not be sent, since it is to be obeyed. */
    boolean isSpared(byte[] request) {
      return isOperators() && spared.spares(rpc, request, coordinator);
    }

    void send(byte[] request) {
      last = request;
      sent++;
      call.sendMessage(request);
    }

    void endRequests() {
      call.halfClose();
    }

    void cancel() {
      call.cancel("the attacker hangs up", null);
    }

    @Override
    public void onMessage(byte[] message) {
      if (!guise.mayBeAnswered) {
        findings.add(rpc.name() + " was answered to somebody who is " + guise);
      }
      findings.onMessage(rpc, isOperators(), message, loot.take(rpc.output(), message), last);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      ended = true;
      calls.release();
      if (!guise.mayBeAnswered && status.isOk()) {
        findings.add(rpc.name() + " went well for somebody who is " + guise);
      }
      findings.onEnd(rpc, isOperators(), status, last);
    }
  }

  @Override
  public void run() {
    try {
      attack();
    } finally {
      channels.values().forEach(each -> each.forEach(ManagedChannel::shutdownNow));
    }
  }

  private void attack() {
    while (another.getAsBoolean()) {
      if (words.chance(CONVERSATION_PERCENT)) {
        converse(words.oneOf(conversational));
      } else {
        callOnce(words.oneOf(single));
      }
    }
    streams.forEach(Call::cancel);
    conversations.forEach(Call::cancel);
    awaitRoom(MOST_OPEN_CALLS);
  }

  private void awaitRoom(int places) {
    try {
      if (!calls.tryAcquire(places, 2 * PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("calls do not end, not even after their deadline");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void callOnce(Rpc rpc) {
    awaitRoom(1);
    Call call = new Call(rpc);
    if (words.chance(1)) {
      call.cancel();
      return;
    }
    byte[] request = requests.request(rpc.input());
    if (call.isSpared(request)) {
      call.cancel();
      return;
    }
    call.send(request);
    call.endRequests();
    if (rpc.goesOn()) {
      streams.add(call);
      streams.removeIf(each -> each.ended);
      if (streams.size() > MOST_STREAMS) {
        streams.remove().cancel();
      }
    } else if (words.chance(3)) {
      call.cancel();
    }
  }

  /** Says one thing in a conversation: a new one, or one that goes on. */
  private void converse(Rpc rpc) {
    conversations.removeIf(each -> each.ended);
    List<Call> open = conversations.stream().filter(each -> each.rpc.equals(rpc)).toList();
    if (open.isEmpty() || (conversations.size() < MOST_CONVERSATIONS && words.chance(10))) {
      awaitRoom(1);
      Call call = new Call(rpc);
      conversations.add(call);
      boolean session = rpc.input().equals(SessionRequest.getDescriptor());
      call.send(session && words.chance(90) ? opening() : requests.request(rpc.input()));
      return;
    }
    Call call = words.oneOf(open);
    // What is malformed ends most conversations: too much of it, and none would come far.
    boolean good = words.chance(85);
    call.send(good ? requests.good(rpc.input()) : requests.request(rpc.input()));
    if (call.sent > MOST_MESSAGES || words.chance(2)) {
      conversations.remove(call);
      // Requests that are still unread when the client says that there are no more.
      call.endRequests();
      streams.add(call);
    } else if (words.chance(1)) {
      conversations.remove(call);
      call.cancel();
    }
  }

  private static byte[] opening() {
    OpenSession.Builder open =
        OpenSession.newBuilder().setTtl(Duration.newBuilder().setSeconds(10)).setBatches(true);
    return SessionRequest.newBuilder().setOpen(open).build().toByteArray();
  }

  /** As whom a call is made. */
  private enum Guise {
    OWN(true),
    STRANGER(true),
    UNKNOWN(false),
    COORDINATOR(false),
    COORDINATOR_BY_NAME(false);

    private final boolean mayBeAnswered;

    Guise(boolean mayBeAnswered) {
      this.mayBeAnswered = mayBeAnswered;
    }

    /** Returns by whose certificate. */
    Caller connected(Caller caller) {
      return switch (this) {
        case OWN, COORDINATOR -> caller;
        case STRANGER, UNKNOWN -> Caller.NOBODY;
        case COORDINATOR_BY_NAME -> Caller.IMPOSTOR;
      };
    }
  }

  private Guise guise() {
    int kind = random.nextInt(100);
    if (kind < 90) {
      return Guise.OWN;
    }
    if (kind < 92) {
      return Guise.STRANGER;
    }
    if (kind < 95) {
      return Guise.UNKNOWN;
    }
    return kind < 97 ? Guise.COORDINATOR : Guise.COORDINATOR_BY_NAME;
  }

  private Metadata headers(Guise guise) {
    Metadata headers = new Metadata();
    switch (guise) {
      case OWN -> own(headers);
      case STRANGER -> headers.put(Callers.AUTHORIZATION, callers.strangersToken());
      case UNKNOWN -> unknown(headers);
      case COORDINATOR, COORDINATOR_BY_NAME -> forwarded(headers);
    }
    return headers;
  }

  private void own(Metadata headers) {
    if (caller == Caller.NOBODY) {
      headers.put(Callers.AUTHORIZATION, callers.token() + (words.chance(1) ? " " : ""));
    }
    if (words.chance(1)) {
      // Nothing, without the other header.
      headers.put(CALLER, callerHeader());
      headers.put(CALLER_ADDRESS, "10.0.0.1:1");
    }
  }

  private void unknown(Metadata headers) {
    if (words.chance(80)) {
      headers.put(
          Callers.AUTHORIZATION,
          words.oneOf(
              List.of(
                  "",
                  "Bearer",
                  "Bearer ",
                  "Basic YTpi",
                  "Bearer a.b.c",
                  "Bearer lkt_guess",
                  "bearer " + "x".repeat(2_000),
                  callers.token() + "x")));
    }
  }

  private void forwarded(Metadata headers) {
    if (words.chance(50)) {
      headers.put(Callers.AUTHORIZATION, callers.token());
    }
    headers.put(FORWARDED_BY, words.oneOf(List.of("", "1", "coordinator", "127.0.0.1:1")));
    if (words.chance(90)) {
      headers.put(CALLER, callerHeader());
      headers.put(CALLER_ADDRESS, "10.0.0.1:1");
    }
  }

  private String callerHeader() {
    return words.chance(70)
        ? Base64.getEncoder().encodeToString(Caller.WITNESS.uri().getBytes(StandardCharsets.UTF_8))
        : words.oneOf(List.of("", ",,,", "!", Caller.WITNESS.uri()));
  }
}
