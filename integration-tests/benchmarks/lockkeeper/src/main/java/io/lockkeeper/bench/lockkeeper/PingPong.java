package io.lockkeeper.bench.lockkeeper;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.bench.load.Crew;
import io.lockkeeper.bench.load.LoadedSystem;
import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Tally;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Bare gRPC: one bidirectional stream, one message there and one back at a time, each as large as a
 * release and a grant of ours. No lock that changes hands between clients can do it more often.
 */
final class PingPong implements LoadedSystem {

  private static final long PATIENCE_SECONDS = 60;
  private static final SessionRequest PING =
      SessionRequest.newBuilder()
          .setRelease(ReleaseRequest.newBuilder().setRequestId("0123456789abcdef-0123456"))
          .build();

  private final ManagedChannel channel;

  private PingPong(ManagedChannel channel) {
    this.channel = channel;
  }

  /** Connects to a {@link PongServer}. */
  static PingPong connect(String server) {
    // As the client library does it, and the quickest: answers are handled where they are read.
    return new PingPong(
        NettyChannelBuilder.forTarget(server).usePlaintext().directExecutor().build());
  }

  @Override
  public Crew start(Order order, Tally tally) {
    Player player = new Player(tally);
    player.requests = LockServiceGrpc.newStub(channel).session(player);
    player.ping();
    return player;
  }

  /** One stream; its answers come one after the other. */
  private static final class Player implements Crew, StreamObserver<SessionResponse> {
    private final Tally tally;
    private final CountDownLatch ended = new CountDownLatch(1);
    private StreamObserver<SessionRequest> requests = new Unconnected();
    private volatile boolean stopping;
    private long sentNanos;

    Player(Tally tally) {
      this.tally = tally;
    }

    void ping() {
      sentNanos = System.nanoTime();
      requests.onNext(PING);
    }

    @Override
    public void onNext(SessionResponse pong) {
      tally.acquired(System.nanoTime() - sentNanos);
      tally.released();
      if (stopping) {
        requests.onCompleted();
      } else {
        ping();
      }
    }

    @Override
    public void onError(Throwable failure) {
      tally.failed(failure);
      ended.countDown();
    }

    @Override
    public void onCompleted() {
      ended.countDown();
    }

    @Override
    public void stop() throws InterruptedException {
      stopping = true;
      if (!ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the stream does not end");
      }
    }
  }

  /** Where nothing can be sent yet. */
  private static final class Unconnected implements StreamObserver<SessionRequest> {
    @Override
    public void onNext(SessionRequest value) {
      throw new IllegalStateException("no stream yet");
    }

    @Override
    public void onError(Throwable failure) {
      throw new IllegalStateException("no stream yet", failure);
    }

    @Override
    public void onCompleted() {
      throw new IllegalStateException("no stream yet");
    }
  }
}
