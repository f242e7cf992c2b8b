package io.lockkeeper.client.testing;

import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.v1.AcquisitionState;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.CloseLeaseResponse;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.GetLeaseResponse;
import io.lockkeeper.v1.KeepAliveRequest;
import io.lockkeeper.v1.KeepAliveResponse;
import io.lockkeeper.v1.LeaseEndReason;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LeaseState;
import io.lockkeeper.v1.ListLeasesRequest;
import io.lockkeeper.v1.ListLeasesResponse;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import java.util.Comparator;
import java.util.List;

/** The lease service of the in-memory server. Its executor is the server's loop. */
final class FakeLeaseService extends LeaseServiceGrpc.LeaseServiceImplBase {

  private static final int DEFAULT_PAGE = 100;
  private static final int MAX_ACQUISITIONS = 1_000;

  private final FakeState state;
  private final FakeNode node;

  FakeLeaseService(FakeState state, FakeNode node) {
    this.state = state;
    this.node = node;
  }

  @Override
  public void openLease(OpenLeaseRequest request, StreamObserver<OpenLeaseResponse> responses) {
    FakeLockService.answer(
        responses,
        () -> {
          String holder = request.getHolder().isEmpty() ? "in-process" : request.getHolder();
          FakeLease lease = state.open(node, holder, FakeTime.toNanos(request.getTtl()), false);
          return OpenLeaseResponse.newBuilder()
              .setLeaseId(lease.id)
              .setLeaseSecret(lease.secret)
              .setLeaseTag(lease.tag())
              .setTtl(FakeTime.toProto(lease.ttlNanos))
              .setValidFor(FakeTime.toProto(lease.ttlNanos))
              .build();
        });
  }

  @Override
  public StreamObserver<KeepAliveRequest> keepAlive(StreamObserver<KeepAliveResponse> responses) {
    return new StreamObserver<>() {
      @Override
      public void onNext(KeepAliveRequest request) {
        responses.onNext(renew(request.getLeaseId()));
      }

      @Override
      public void onError(Throwable failure) {
        // The leases live on without the stream, as long as their time to live.
      }

      @Override
      public void onCompleted() {
        responses.onCompleted();
      }
    };
  }

  private KeepAliveResponse renew(String id) {
    KeepAliveResponse.Builder answer = KeepAliveResponse.newBuilder().setLeaseId(id);
    try {
      FakeLease lease = state.lease(id);
      state.renew(lease);
      return answer.setValidFor(FakeTime.toProto(lease.ttlNanos)).build();
    } catch (StatusRuntimeException gone) {
      FakeLease known = state.leases.get(id);
      LeaseEndReason none = LeaseEndReason.LEASE_END_REASON_UNSPECIFIED;
      return answer.setEnded(known == null ? none : known.end.orElse(none)).build();
    }
  }

  @Override
  public void closeLease(CloseLeaseRequest request, StreamObserver<CloseLeaseResponse> responses) {
    FakeLockService.answer(
        responses,
        () -> {
          FakeLease known = state.leases.get(request.getLeaseId());
          boolean already = known != null && known.end.isPresent();
          if (!already) {
            state.end(state.lease(request.getLeaseId()), LeaseEndReason.LEASE_END_REASON_CLOSED);
          }
          return CloseLeaseResponse.newBuilder().setAlreadyEnded(already).build();
        });
  }

  @Override
  public void getLease(GetLeaseRequest request, StreamObserver<GetLeaseResponse> responses) {
    FakeLockService.answer(
        responses,
        () -> {
          FakeLease lease = state.lease(request.getLeaseId());
          LeaseState.Builder view = view(lease);
          live(lease).stream()
              .limit(MAX_ACQUISITIONS)
              .forEach(
                  a ->
                      view.addAcquisitions(
                          AcquisitionState.newBuilder()
                              .setRequestId(a.requestId)
                              .addAllLocks(
                                  a.request.getLocksList().stream()
                                      .map(LockRequest::getName)
                                      .toList())
                              .setHeld(a.state == FakeAcquisition.State.HELD)));
          return GetLeaseResponse.newBuilder().setLease(view).build();
        });
  }

  @Override
  public void listLeases(ListLeasesRequest request, StreamObserver<ListLeasesResponse> responses) {
    FakeLockService.answer(
        responses,
        () -> {
          int size = request.getPageSize() == 0 ? DEFAULT_PAGE : request.getPageSize();
          List<FakeLease> page =
              state.leases.values().stream()
                  .filter(l -> l.end.isEmpty() && l.tag().compareTo(request.getPageToken()) > 0)
                  .sorted(Comparator.comparing(FakeLease::tag))
                  .limit(size + 1L)
                  .toList();
          ListLeasesResponse.Builder answer = ListLeasesResponse.newBuilder();
          page.stream().limit(size).forEach(lease -> answer.addLeases(view(lease)));
          return answer
              .setNextPageToken(page.size() > size ? page.get(size - 1).tag() : "")
              .build();
        });
  }

  private LeaseState.Builder view(FakeLease lease) {
    LeaseState.Builder view =
        LeaseState.newBuilder()
            .setLeaseTag(lease.tag())
            .setHolder(lease.holder)
            .setStreamBound(lease.streamBound)
            .setAcquisitionCount(live(lease).size());
    if (!lease.streamBound) {
      long left = lease.ttlNanos - (state.loop.nanos() - lease.renewedAtNanos);
      view.setTtl(FakeTime.toProto(lease.ttlNanos))
          .setRemaining(FakeTime.toProto(Math.max(0, left)));
    }
    return view;
  }

  private static List<FakeAcquisition> live(FakeLease lease) {
    return lease.acquisitions.values().stream()
        .filter(a -> a.state != FakeAcquisition.State.ENDED)
        .toList();
  }
}
