package io.lockkeeper.bench.lockkeeper;

import com.google.protobuf.Duration;
import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.lockkeeper.bench.load.Conversation;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.ListLocksRequest;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.WatchRequest;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A client with an ordinary identity that does its worst, at full speed.
 *
 * <p>Words: {@code begin ATTACK} begins one of those below; {@code burn CORES} takes so much of the
 * processors instead, and asks for nothing; {@code end} ends either; {@code status}; {@code
 * rehearse ATTACK} does the same as an identity without limits, until {@code rehearsed}. All are
 * answered with how many answers there were so far.
 *
 * <ul>
 *   <li>{@code locks}: requests for 64 locks each, that nobody has asked for before, with as much
 *       metadata as is taken
 *   <li>{@code tries}: requests for 64 locks that are held, which do not wait
 *   <li>{@code cancels}: requests for locks that are held, which are cancelled as soon as they wait
 *   <li>{@code leases}: leases that last as short as they may, one after the other
 *   <li>{@code lists}: lists and snapshots of some thousand locks that it holds
 *   <li>{@code garbage}: requests that are wrong or not permitted
 * </ul>
 */
public final class HostileLoad implements Conversation.Host {

  private static final String PREFIX = "hostile/";
  private static final int LOCKS = 64;
  private static final int METADATA_BYTES = 4_000;
  private static final int LARGE_BATCH = 6;
  private static final int BATCH = 200;
  private static final int CALLS = 1_000;
  private static final int LISTS = 64;
  private static final int LISTED_REQUESTS = 32;
  private static final Duration AT_ONCE = Duration.getDefaultInstance();
  private static final Duration SHORTEST_TTL = Duration.newBuilder().setSeconds(2).build();
  private static final Map<String, String> LARGE = Map.of("note", "x".repeat(METADATA_BYTES));

  private final List<ManagedChannel> channels;
  private final LongAdder answers = new LongAdder();
  private final AtomicLong number = new AtomicLong();
  private Optional<Attack> attack = Optional.empty();
  private Optional<Holding> holding = Optional.empty();

  private HostileLoad(String server, int connections, ChannelCredentials credentials) {
    channels =
        Stream.generate(() -> NettyChannelBuilder.forTarget(server, credentials))
            .limit(connections)
            .map(channel -> channel.directExecutor().build())
            .toList();
  }

  /**
   * Answers words. Arguments: the server's address, how many connections there are, and of either
   * identity, the one with limits first, the server's authority, its certificate and its key.
   */
  public static void main(String[] arguments) throws IOException {
    int connections = Integer.parseInt(arguments[1]);
    HostileLoad limited = new HostileLoad(arguments[0], connections, credentials(arguments, 2));
    HostileLoad rehearsal = new HostileLoad(arguments[0], connections, credentials(arguments, 5));
    Conversation.run(
        (word, rest) ->
            switch (word) {
              case "rehearse" -> rehearsal.answer("begin", rest);
              case "rehearsed" -> rehearsal.answer("end", rest);
              default -> limited.answer(word, rest);
            });
  }

  private static ChannelCredentials credentials(String[] arguments, int first) throws IOException {
    return TlsChannelCredentials.newBuilder()
        .trustManager(new File(arguments[first]))
        .keyManager(new File(arguments[first + 1]), new File(arguments[first + 2]))
        .build();
  }

  @Override
  public Object answer(String word, List<String> arguments) throws InterruptedException {
    switch (word) {
      case "begin" -> begin(attack(arguments.get(0)));
      case "burn" -> begin(new Burner(Double.parseDouble(arguments.get(0))));
      case "end" -> end();
      case "status" -> {
        // Answered below, as after each of the others.
      }
      default -> throw new IllegalArgumentException(word);
    }
    return Map.of("answers", answers.sum());
  }

  private void begin(Attack next) throws InterruptedException {
    attack = Optional.of(next);
    next.begin();
  }

  private void end() {
    attack.ifPresent(Attack::end);
    attack = Optional.empty();
    holding.ifPresent(Holding::close);
    holding = Optional.empty();
  }

  private Attack attack(String what) {
    return switch (what) {
      case "locks" -> sessions(LARGE_BATCH, () -> of(acquire("new-" + number.get(), LARGE)));
      case "tries" -> {
        hold(1, LARGE);
        AcquireRequest held = acquire("0", Map.of());
        yield sessions(
            BATCH / 10, () -> of(numbered(held).toBuilder().setWaitTimeout(AT_ONCE).build()));
      }
      case "cancels" -> {
        hold(1, Map.of());
        AcquireRequest held = acquire("0", Map.of()).toBuilder().clearRequestId().build();
        yield calls(CALLS, (i, line) -> locks(i).acquire(held, line.until(e -> e.hasQueued())));
      }
      case "leases" -> {
        OpenLeaseRequest open =
            OpenLeaseRequest.newBuilder().setTtl(SHORTEST_TTL).setHolder("hostile").build();
        yield calls(CALLS, (i, line) -> leases(i).openLease(open, line.untilEnd()));
      }
      case "lists" -> {
        hold(LISTED_REQUESTS, Map.of("note", "x".repeat(100)));
        yield calls(LISTS, this::read);
      }
      case "garbage" -> sessions(BATCH, this::garbage);
      default -> throw new IllegalArgumentException(what);
    };
  }

  private Attack calls(int atOnce, CallFlood.Call call) {
    return new CallFlood(atOnce, call, answers);
  }

  private Attack sessions(int batch, Supplier<SessionRequest> requests) {
    return new SessionFlood(
        IntStream.range(0, channels.size()).mapToObj(this::locks).toList(),
        batch,
        requests,
        answers);
  }

  private LockServiceGrpc.LockServiceStub locks(int i) {
    // A connection that the server has closed is made again before the next call fails.
    return LockServiceGrpc.newStub(channels.get(i % channels.size())).withWaitForReady();
  }

  private LeaseServiceGrpc.LeaseServiceStub leases(int i) {
    return LeaseServiceGrpc.newStub(channels.get(i % channels.size())).withWaitForReady();
  }

  private void hold(int requests, Map<String, String> metadata) {
    List<AcquireRequest> wanted = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      wanted.add(acquire(Integer.toString(i), metadata));
    }
    holding = Optional.of(Holding.of(channels.get(0), wanted));
  }

  private static SessionRequest of(AcquireRequest acquire) {
    return SessionRequest.newBuilder().setAcquire(acquire).build();
  }

  private AcquireRequest numbered(AcquireRequest request) {
    return request.toBuilder().setRequestId("r" + number.incrementAndGet()).build();
  }

  /** Asks for as many locks as one request may, all of that name. */
  private AcquireRequest acquire(String name, Map<String, String> metadata) {
    AcquireRequest.Builder request =
        AcquireRequest.newBuilder().setHolder("hostile").putAllMetadata(metadata);
    for (int i = 0; i < LOCKS; i++) {
      request.addLocks(LockRequest.newBuilder().setName(PREFIX + name + "-" + i));
    }
    return numbered(request.build());
  }

  private void read(int i, CallFlood.Line line) {
    if (i % 2 == 0) {
      locks(i)
          .listLocks(
              ListLocksRequest.newBuilder().setPrefix(PREFIX).setPageSize(1_000).build(),
              line.untilEnd());
    } else {
      locks(i)
          .watch(
              WatchRequest.newBuilder().setPrefix(PREFIX).build(),
              line.until(event -> event.hasSnapshotEnd()));
    }
  }

  private SessionRequest garbage() {
    String id = "r" + number.incrementAndGet();
    return switch ((int) (number.get() % 4)) {
      case 0 ->
          of(
              AcquireRequest.newBuilder()
                  .setRequestId(id)
                  .addLocks(LockRequest.newBuilder().setName("bench/own-1"))
                  .build());
      case 1 -> of(AcquireRequest.newBuilder().setRequestId(id).build());
      case 2 ->
          of(
              AcquireRequest.newBuilder()
                  .setRequestId(id)
                  .addLocks(LockRequest.newBuilder().setName("\n\u0000//"))
                  .build());
      default ->
          SessionRequest.newBuilder()
              .setRelease(ReleaseRequest.newBuilder().setRequestId(id))
              .build();
    };
  }
}
