package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator.OpenedLease;
import io.lockkeeper.server.testing.FakeCoordinator.Attached;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionResponse;

/** A session stream to a server of its own, on which nothing has been sent yet. */
public final class SessionClient implements AutoCloseable {

  public final InProcess server = new InProcess();
  public final Received<SessionRequest, SessionResponse> received = Received.all();
  public final StreamObserver<SessionRequest> requests = server.locks().session(received);

  /** Opens a new lease and takes the answer off the stream. */
  public Attached open() {
    requests.onNext(SessionMessages.opening());
    var lease = server.coordinator.openLeases.next();
    lease.answer().complete(new OpenedLease(ViewSamples.opened(), "s3cret"));
    Attached attached = server.coordinator.attaches.next();
    attached.attached().complete(ViewSamples.attached());
    assertThat(received.next().hasOpened()).isTrue();
    return attached;
  }

  @Override
  public void close() {
    server.close();
  }
}
