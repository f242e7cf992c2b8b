package io.lockkeeper.bench.lockkeeper;

import com.google.protobuf.Duration;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.bench.load.LoadProgram;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceImplBase;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** The other side of {@link PingPong}: answers every message at once. */
public final class PongServer extends LockServiceImplBase {

  private static final SessionResponse PONG =
      SessionResponse.newBuilder()
          .setEvent(
              AcquireResponse.newBuilder()
                  .setRequestId("0123456789abcdef-0123456")
                  .setGranted(
                      Granted.newBuilder()
                          .addGrants(
                              Grant.newBuilder().setName("bench/hot").setFencingToken(1L << 60))
                          .setLeaseId("0123456789abcdef0123456789abcdef")
                          .setValidFor(Duration.newBuilder().setSeconds(15))))
          .build();

  private PongServer() {}

  /** Serves on a free port, which it tells, until standard input ends. */
  public static void main(String[] arguments) throws IOException {
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .directExecutor()
            .addService(new PongServer())
            .build()
            .start();
    System.out.println(LoadProgram.MARK + server.getPort());
    while (System.in.read() >= 0) {
      // Nobody writes; only the end matters.
    }
    Runtime.getRuntime().halt(0);
  }

  @Override
  public StreamObserver<SessionRequest> session(StreamObserver<SessionResponse> responses) {
    return new StreamObserver<>() {
      @Override
      public void onNext(SessionRequest request) {
        responses.onNext(PONG);
      }

      @Override
      public void onError(Throwable failure) {
        // The other side has gone, and the call with it.
      }

      @Override
      public void onCompleted() {
        responses.onCompleted();
      }
    };
  }
}
