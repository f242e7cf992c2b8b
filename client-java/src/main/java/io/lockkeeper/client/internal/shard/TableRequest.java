package io.lockkeeper.client.internal.shard;

import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.internal.context.ClientContext;
import io.lockkeeper.client.internal.loop.Loop;
import io.lockkeeper.client.internal.loop.ResettableTimer;
import io.lockkeeper.client.internal.protocol.ErrorDetails;
import io.lockkeeper.client.internal.transport.ServerList;
import io.lockkeeper.v1.GetShardsRequest;
import io.lockkeeper.v1.GetShardsResponse;
import io.lockkeeper.v1.ShardServiceGrpc;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the servers of one shard for the table, one after the other, until one has answered or half
 * the request timeout is over. Over a connection of its own. On the client's loop only.
 */
final class TableRequest {

  private static final Logger LOG = LoggerFactory.getLogger(TableRequest.class);

  /** A table of as many shards and namespaces as there may be, with long names. */
  private static final int MOST_BYTES = 16 * 1024 * 1024;

  private final ClientContext context;
  private final Loop loop;
  private final ServerList servers;
  private final Consumer<Optional<GetShardsResponse>> whenDone;
  private final ResettableTimer limit;
  private final ResettableTimer next;
  private Optional<ManagedChannel> channel = Optional.empty();
  private int attempts;
  private boolean over;

  /**
   * Makes one that asks nobody before {@link #start}.
   *
   * @param whenDone is given the answer, if there was one; nothing after {@link #close}
   */
  TableRequest(
      ClientContext context, ShardServers from, Consumer<Optional<GetShardsResponse>> whenDone) {
    this.context = context;
    this.loop = context.loop();
    this.servers = new ServerList(context.settings().channels(), from.discovery());
    this.whenDone = whenDone;
    this.limit = new ResettableTimer(loop);
    this.next = new ResettableTimer(loop);
  }

  void start() {
    limit.set(timeoutNanos(), () -> end(Optional.empty()));
    attempt();
  }

  /** Half the request timeout: whoever waits for the table has time left for whom it names. */
  private long timeoutNanos() {
    return Loop.toNanos(context.settings().requestTimeout()) / 2;
  }

  private void attempt() {
    servers.refresh(loop, this::connect);
  }

  private void connect() {
    if (over) {
      return;
    }
    Answer answer = new Answer(++attempts);
    // A server that does not answer must leave time for the others.
    next.set(
        timeoutNanos() / servers.count(),
        () -> answer.failed(ErrorDetails.of(Status.UNAVAILABLE.withDescription("no answer"))));
    try {
      ManagedChannel open = servers.connect();
      channel = Optional.of(open);
      Context.ROOT.run(
          () ->
              ShardServiceGrpc.newStub(open)
                  .withMaxInboundMessageSize(MOST_BYTES)
                  .getShards(GetShardsRequest.getDefaultInstance(), answer));
    } catch (RuntimeException | Error e) {
      // The channel factory may be the user's.
      answer.failed(ErrorDetails.of(Status.UNAVAILABLE.withCause(e)));
    }
  }

  private void end(Optional<GetShardsResponse> answer) {
    if (!over) {
      close();
      whenDone.accept(answer);
    }
  }

  /** Gives up. Idempotent. */
  void close() {
    over = true;
    limit.cancel();
    next.cancel();
    disconnect();
  }

  private void disconnect() {
    channel.ifPresent(ManagedChannel::shutdownNow);
    channel = Optional.empty();
  }

  /** What one server says. */
  private final class Answer implements StreamObserver<GetShardsResponse> {
    private final int attempt;

    Answer(int attempt) {
      this.attempt = attempt;
    }

    @Override
    public void onNext(GetShardsResponse response) {
      loop.execute(
          () -> {
            if (attempt == attempts) {
              end(Optional.of(response));
            }
          });
    }

    @Override
    public void onError(Throwable failure) {
      ErrorDetails why = ErrorDetails.of(failure);
      loop.execute(() -> failed(why));
    }

    @Override
    public void onCompleted() {
      loop.execute(() -> failed(ErrorDetails.of(Status.UNAVAILABLE)));
    }

    private void failed(ErrorDetails why) {
      if (over || attempt != attempts) {
        return;
      }
      LOG.atDebug()
          .addKeyValue("server", servers.current())
          .log("No table of shards: {}", why.inWords());
      attempts++;
      disconnect();
      if (why.isPassing()) {
        servers.moveOn();
        next.set(context.backoff().nanosAfter(attempts), TableRequest.this::attempt);
      } else {
        end(Optional.empty());
      }
    }
  }
}
