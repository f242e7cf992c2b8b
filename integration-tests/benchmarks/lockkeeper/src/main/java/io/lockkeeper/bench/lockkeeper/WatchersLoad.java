package io.lockkeeper.bench.lockkeeper;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.lockkeeper.bench.load.Conversation;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.WatchRequest;
import io.lockkeeper.v1.WatchResponse;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/**
 * Watchers of a prefix, each a stream of its own, on a few connections.
 *
 * <p>Words: {@code watch N PREFIX} opens N watches that read all they are sent; {@code stop N
 * PREFIX} opens N watches that read one event and then nothing; {@code end} ends all of them;
 * {@code status} is answered with how many events were read, and how many changes they stand for.
 */
public final class WatchersLoad implements Conversation.Host {

  private final List<ManagedChannel> channels;
  private final ConcurrentLinkedQueue<Reader> readers = new ConcurrentLinkedQueue<>();
  private final LongAdder events = new LongAdder();
  private final LongAdder changes = new LongAdder();
  private final LongAdder failures = new LongAdder();

  private WatchersLoad(String server, int connections) {
    channels =
        IntStream.range(0, connections)
            .<ManagedChannel>mapToObj(
                i -> NettyChannelBuilder.forTarget(server).usePlaintext().directExecutor().build())
            .toList();
  }

  /** Answers words. Arguments: the server's address, and how many connections are shared. */
  public static void main(String[] arguments) throws Exception {
    Conversation.run(new WatchersLoad(arguments[0], Integer.parseInt(arguments[1])));
  }

  @Override
  public Object answer(String word, List<String> arguments) {
    switch (word) {
      case "watch" -> open(Integer.parseInt(arguments.get(0)), arguments.get(1), true);
      case "stop" -> open(Integer.parseInt(arguments.get(0)), arguments.get(1), false);
      case "end" -> end();
      case "status" -> {
        // Answered below, as after each of the others.
      }
      default -> throw new IllegalArgumentException(word);
    }
    return Map.of("events", events.sum(), "changes", changes.sum(), "failures", failures.sum());
  }

  private void open(int count, String prefix, boolean reading) {
    WatchRequest request = WatchRequest.newBuilder().setPrefix(prefix).build();
    for (int i = 0; i < count; i++) {
      Reader reader = new Reader(reading);
      readers.add(reader);
      LockServiceGrpc.newStub(channels.get(i % channels.size())).watch(request, reader);
    }
  }

  private void end() {
    readers.forEach(Reader::end);
    readers.clear();
  }

  /** One watch. */
  private final class Reader implements ClientResponseObserver<WatchRequest, WatchResponse> {
    private final boolean reading;
    private volatile Optional<ClientCallStreamObserver<WatchRequest>> call = Optional.empty();
    private volatile boolean ended;

    Reader(boolean reading) {
      this.reading = reading;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<WatchRequest> stream) {
      call = Optional.of(stream);
      if (!reading) {
        stream.disableAutoRequestWithInitial(1);
      }
    }

    void end() {
      ended = true;
      call.ifPresent(stream -> stream.cancel("the watch is over", null));
    }

    @Override
    public void onNext(WatchResponse event) {
      events.increment();
      if (event.hasChange()) {
        changes.add(Math.max(1, event.getChange().getCoalesced()));
      }
    }

    @Override
    public void onError(Throwable failure) {
      if (!ended) {
        failures.increment();
      }
    }

    @Override
    public void onCompleted() {
      if (!ended) {
        failures.increment();
      }
    }
  }
}
