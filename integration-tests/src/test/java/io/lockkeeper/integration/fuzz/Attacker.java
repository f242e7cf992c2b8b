package io.lockkeeper.integration.fuzz;

import com.google.protobuf.Duration;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.SessionRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** One connection and what is sent over it: calls of every kind, many at a time. */
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

  private final Channel channel;
  private final FuzzedServer server;
  private final Findings findings;
  private final Loot loot;
  private final BooleanSupplier another;
  private final List<Rpc> conversational = Rpc.all().stream().filter(Rpc::takesMany).toList();
  private final List<Rpc> single = Rpc.all().stream().filter(rpc -> !rpc.takesMany()).toList();
  private final Random random;
  private final Words words;
  private final RequestMaker requests;
  private final Semaphore calls = new Semaphore(MOST_OPEN_CALLS);
  private final Deque<Call> streams = new ArrayDeque<>();
  private final List<Call> conversations = new ArrayList<>();

  /** Prepares; {@code another} says each time whether one more request is wanted. */
  Attacker(FuzzedServer server, Findings findings, Loot loot, long seed, BooleanSupplier another) {
    this.channel = server.connect();
    this.server = server;
    this.findings = findings;
    this.loot = loot;
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
    private final ClientCall<byte[], byte[]> call;
    private volatile byte[] last = new byte[0];
    private volatile boolean ended;
    private int sent;

    Call(Rpc rpc) {
      this.rpc = rpc;
      this.call =
          channel.newCall(
              rpc.call(),
              CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS));
      call.start(this, headers());
      call.request(Integer.MAX_VALUE);
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
      findings.onMessage(rpc, message, loot.take(rpc.output(), message), last);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      ended = true;
      calls.release();
      findings.onEnd(rpc, status, last);
    }
  }

  @Override
  public void run() {
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
    call.send(requests.request(rpc.input()));
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

  private Metadata headers() {
    Metadata headers = new Metadata();
    int kind = random.nextInt(100);
    if (kind < 93) {
      headers.put(FuzzedServer.AUTHORIZATION, server.attacker());
    } else if (kind < 95) {
      headers.put(FuzzedServer.AUTHORIZATION, server.stranger());
    } else if (kind < 98) {
      headers.put(
          FuzzedServer.AUTHORIZATION,
          words.oneOf(
              List.of(
                  "",
                  "Bearer",
                  "Bearer ",
                  "Basic YTpi",
                  "Bearer a.b.c",
                  "Bearer lkt_guess",
                  "bearer " + "x".repeat(2_000),
                  server.attacker() + " ")));
    }
    if (words.chance(3)) {
      headers.put(FORWARDED_BY, words.oneOf(List.of("", "1", "coordinator", "127.0.0.1:1")));
    }
    if (words.chance(3)) {
      // token:b, in Base64.
      headers.put(CALLER, words.oneOf(List.of("", "dG9rZW46Yg==", ",,,", "!", "token:b")));
      headers.put(CALLER_ADDRESS, "10.0.0.1:1");
    }
    return headers;
  }
}
