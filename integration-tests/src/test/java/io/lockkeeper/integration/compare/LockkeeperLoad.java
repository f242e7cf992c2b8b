package io.lockkeeper.integration.compare;

import com.google.protobuf.util.Durations;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.CloseSession;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.ReleaseRequest;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Our side: each client is a lease of its own on a session stream of its own, and none has a
 * thread.
 */
final class LockkeeperLoad extends Load {

  private static final int CONNECTIONS = 4;

  private final List<ManagedChannel> channels = new ArrayList<>();

  private LockkeeperLoad(String host, int port) {
    for (int i = 0; i < CONNECTIONS; i++) {
      channels.add(NettyChannelBuilder.forAddress(host, port).usePlaintext().build());
    }
  }

  /** Arguments: the server's port. */
  public static void main(String[] arguments) throws Exception {
    new LockkeeperLoad("127.0.0.1", Integer.parseInt(arguments[0])).obey();
    System.exit(0);
  }

  @Override
  AutoCloseable start(int clients, boolean oneLock) {
    List<Client> running = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      running.add(new Client(lock(i, oneLock)));
    }
    for (int i = 0; i < clients; i++) {
      running.get(i).start(channels.get(i % CONNECTIONS));
    }
    return () -> {
      running.forEach(Client::stop);
      for (Client client : running) {
        client.awaitEnd();
      }
    };
  }

  /** One client: acquires, releases when granted, and acquires again when that is done. */
  private final class Client implements StreamObserver<SessionResponse> {

    private final String lock;
    private final CountDownLatch ended = new CountDownLatch(1);
    private StreamObserver<SessionRequest> requests;
    private volatile boolean stopping;
    private long number;

    Client(String lock) {
      this.lock = lock;
    }

    void start(ManagedChannel channel) {
      requests = LockServiceGrpc.newStub(channel).session(this);
      requests.onNext(
          SessionRequest.newBuilder()
              .setOpen(OpenSession.newBuilder().setTtl(Durations.fromMinutes(10)))
              .build());
    }

    void stop() {
      stopping = true;
    }

    void awaitEnd() throws InterruptedException {
      if (!ended.await(30, TimeUnit.SECONDS)) {
        throw new IllegalStateException("a client does not end");
      }
    }

    @Override
    public void onNext(SessionResponse response) {
      switch (response.getResponseCase()) {
        case OPENED -> acquire();
        case EVENT -> {
          if (response.getEvent().hasGranted()) {
            release();
          }
        }
        case RELEASED -> {
          count();
          acquire();
        }
        case REFUSED, GOING_AWAY -> throw new IllegalStateException(response.toString());
        default -> {
          // Nothing else matters here.
        }
      }
    }

    private void acquire() {
      if (stopping) {
        requests.onNext(
            SessionRequest.newBuilder().setClose(CloseSession.getDefaultInstance()).build());
        return;
      }
      number++;
      requests.onNext(
          SessionRequest.newBuilder()
              .setAcquire(
                  AcquireRequest.newBuilder()
                      .setRequestId(Long.toString(number))
                      .addLocks(LockRequest.newBuilder().setName(lock)))
              .build());
    }

    private void release() {
      requests.onNext(
          SessionRequest.newBuilder()
              .setRelease(ReleaseRequest.newBuilder().setRequestId(Long.toString(number)))
              .build());
    }

    @Override
    public void onError(Throwable failure) {
      failure.printStackTrace();
      ended.countDown();
    }

    @Override
    public void onCompleted() {
      requests.onCompleted();
      ended.countDown();
    }
  }
}
