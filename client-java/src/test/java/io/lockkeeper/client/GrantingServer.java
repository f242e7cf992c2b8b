package io.lockkeeper.client;

import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.AcquireResponse;
import io.lockkeeper.v1.Grant;
import io.lockkeeper.v1.Granted;
import io.lockkeeper.v1.LeaseEnded;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.Lost;
import io.lockkeeper.v1.NotAcquired;
import io.lockkeeper.v1.NotAcquiredReason;
import io.lockkeeper.v1.ReleaseOutcome;
import io.lockkeeper.v1.SessionKeptAlive;
import io.lockkeeper.v1.SessionOpened;
import io.lockkeeper.v1.SessionReleased;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

/**
 * A server that grants at once whatever it is asked for, but locks with a segment {@code taken},
 * and takes away those with a segment {@code lost}. It remembers only what it was asked for.
 */
final class GrantingServer implements AutoCloseable {

  private static final Pattern TAKEN = Pattern.compile("(^|/)taken(/|$)");
  private static final Pattern LOST = Pattern.compile("(^|/)lost(/|$)");
  private static final long EPOCH = 1;
  private static final long TTL_SECONDS = 60;

  private final String name = "granting-" + UUID.randomUUID();
  private final AtomicLong tokens = new AtomicLong();
  private final List<AcquireRequest> asked = new CopyOnWriteArrayList<>();
  private final Server server;

  GrantingServer() throws IOException {
    server = InProcessServerBuilder.forName(name).addService(new Sessions()).build().start();
  }

  /** Begins to build a client of this server. */
  LockkeeperClientBuilder clientBuilder() {
    return LockkeeperClient.builder("granting")
        .channels(address -> InProcessChannelBuilder.forName(name).build());
  }

  /** Returns what it was asked for. */
  List<AcquireRequest> asked() {
    return List.copyOf(asked);
  }

  @Override
  public void close() {
    server.shutdownNow();
  }

  private final class Sessions extends LockServiceGrpc.LockServiceImplBase {
    @Override
    public StreamObserver<SessionRequest> session(StreamObserver<SessionResponse> client) {
      return new StreamObserver<>() {
        @Override
        public void onNext(SessionRequest request) {
          answer(request, client);
        }

        @Override
        public void onError(Throwable failure) {
          // The client has gone.
        }

        @Override
        public void onCompleted() {
          client.onCompleted();
        }
      };
    }
  }

  private void answer(SessionRequest request, StreamObserver<SessionResponse> client) {
    SessionResponse.Builder response = SessionResponse.newBuilder().setEpoch(EPOCH);
    if (request.hasOpen()) {
      SessionOpened.Builder opened = response.getOpenedBuilder();
      opened.setLeaseId("lease").setLeaseTag("tag");
      opened.getTtlBuilder().setSeconds(TTL_SECONDS);
      opened.getValidForBuilder().setSeconds(TTL_SECONDS);
    } else if (request.hasKeepAlive()) {
      SessionKeptAlive.Builder kept = response.getKeptAliveBuilder();
      kept.setNonce(request.getKeepAlive().getNonce());
      kept.getValidForBuilder().setSeconds(TTL_SECONDS);
    } else if (request.hasRelease()) {
      SessionReleased.Builder released = response.getReleasedBuilder();
      released.setRequestId(request.getRelease().getRequestId());
      released.getResultBuilder().setOutcome(ReleaseOutcome.RELEASE_OUTCOME_RELEASED);
    } else if (request.hasClose()) {
      response.setLeaseEnded(LeaseEnded.getDefaultInstance());
    } else if (request.hasAcquire()) {
      acquire(request.getAcquire(), client);
      return;
    }
    client.onNext(response.build());
  }

  private void acquire(AcquireRequest request, StreamObserver<SessionResponse> client) {
    asked.add(request);
    String lock = request.getLocks(0).getName();
    if (TAKEN.matcher(lock).find()) {
      NotAcquired.Builder not = NotAcquired.newBuilder();
      not.setReason(NotAcquiredReason.NOT_ACQUIRED_REASON_TIMED_OUT);
      client.onNext(
          event(request, AcquireResponse.newBuilder().setSequence(1).setNotAcquired(not)));
      return;
    }
    Granted.Builder granted = Granted.newBuilder();
    request
        .getLocksList()
        .forEach(
            each ->
                granted.addGrants(
                    Grant.newBuilder()
                        .setName(each.getName())
                        .setFencingToken(tokens.incrementAndGet())));
    client.onNext(event(request, AcquireResponse.newBuilder().setSequence(1).setGranted(granted)));
    if (LOST.matcher(lock).find()) {
      Lost.Builder lost = Lost.newBuilder();
      lost.setReason(io.lockkeeper.v1.LossReason.LOSS_REASON_FORCED);
      client.onNext(event(request, AcquireResponse.newBuilder().setSequence(2).setLost(lost)));
    }
  }

  private static SessionResponse event(AcquireRequest request, AcquireResponse.Builder event) {
    return SessionResponse.newBuilder()
        .setEpoch(EPOCH)
        .setEvent(event.setEpoch(EPOCH).setRequestId(request.getRequestId()))
        .build();
  }
}
