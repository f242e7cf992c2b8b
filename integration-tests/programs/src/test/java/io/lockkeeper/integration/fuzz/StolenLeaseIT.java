package io.lockkeeper.integration.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Duration;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.lockkeeper.integration.fuzz.Callers.Caller;
import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockRequest;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.OpenLeaseResponse;
import io.lockkeeper.v1.OpenSession;
import io.lockkeeper.v1.RenewLeaseRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** An attacker knows the id and the secret of a lease; two coordinators forward to each other. */
final class StolenLeaseIT {

  private static final int PATIENCE_SECONDS = 30;

  /** All that comes of a call. */
  private static final class Answers extends ClientCall.Listener<byte[]> {
    private final Descriptor type;
    private final StringBuilder all = new StringBuilder();
    private final CompletableFuture<String> end = new CompletableFuture<>();

    Answers(Descriptor type) {
      this.type = type;
    }

    @Override
    public void onMessage(byte[] message) {
      try {
        all.append(DynamicMessage.parseFrom(type, ByteString.copyFrom(message)));
      } catch (InvalidProtocolBufferException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      end.complete(all + status.getCode().name() + ": " + status.getDescription());
    }
  }

  private static List<Rpc> rpcsUnderALease() {
    return Rpc.all().stream().filter(rpc -> namesALease(rpc.input())).toList();
  }

  private static boolean namesALease(Descriptor type) {
    return type.findFieldByName("lease_id") != null || type.findFieldByName("open") != null;
  }

  /** Returns a request that is good but for whose lease it names. */
  private static DynamicMessage request(Descriptor type, String lease, String secret) {
    DynamicMessage.Builder request = DynamicMessage.newBuilder(type);
    for (FieldDescriptor field : type.getFields()) {
      switch (field.getName()) {
        case "lease_id" -> request.setField(field, lease);
        case "lease_secret" -> request.setField(field, secret);
        case "request_id" -> request.setField(field, "r");
        case "needs" -> request.setField(field, Duration.newBuilder().setSeconds(1).build());
        case "locks" ->
            request.addRepeatedField(field, LockRequest.newBuilder().setName("tenant-a/x").build());
        case "open" -> request.setField(field, request(OpenSession.getDescriptor(), lease, secret));
        default -> {} // As it is by default.
      }
    }
    return request.build();
  }

  /** Returns what comes of a request, without the lease's name. */
  private static String outcome(ManagedChannel at, Rpc rpc, String lease, String secret)
      throws Exception {
    ClientCall<byte[], byte[]> call =
        at.newCall(
            rpc.call(), CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS));
    Answers answers = new Answers(rpc.output());
    call.start(answers, new Metadata());
    call.request(Integer.MAX_VALUE);
    call.sendMessage(request(rpc.input(), lease, secret).toByteArray());
    call.halfClose();
    return answers
        .end
        .get(2L * PATIENCE_SECONDS, TimeUnit.SECONDS)
        .replace(lease, "LEASE")
        .replace(lease.substring(0, 16), "TAG");
  }

  @Test
  void leaseOfAnotherIsAnsweredByEveryCoordinatorLikeOneThatThereIsNot() throws Exception {
    try (FuzzedCluster cluster = FuzzedCluster.start()) {
      List<ManagedChannel> owner = cluster.connectToAll(Caller.ATTACKER);
      List<ManagedChannel> thief = cluster.connectToAll(Caller.RIVAL);
      try {
        // Given: a lease that the first coordinator serves, its id and its secret in wrong hands
        var leases = LeaseServiceGrpc.newBlockingStub(owner.get(0));
        OpenLeaseResponse lease = leases.openLease(OpenLeaseRequest.getDefaultInstance());
        String id = lease.getLeaseId();
        long token = Asking.with(owner.get(0), Asking.under(id, "r", "tenant-a/held")).awaitToken();
        String none = "0123456789abcdef0123456789abcdef";

        // When
        assertThat(rpcsUnderALease()).hasSizeGreaterThanOrEqualTo(8);
        for (Rpc rpc : rpcsUnderALease()) {
          for (ManagedChannel at : thief) {
            String foreign = outcome(at, rpc, id, lease.getLeaseSecret());
            String unknown = outcome(at, rpc, none, lease.getLeaseSecret());

            // Then
            assertThat(foreign).as(rpc.name()).isEqualTo(unknown);
          }
        }
        for (ManagedChannel at : owner) {
          var renewed =
              LeaseServiceGrpc.newBlockingStub(at)
                  .renewLease(RenewLeaseRequest.newBuilder().setLeaseId(id).build());
          assertThat(renewed.hasValidFor()).isTrue();
          assertThat(Asking.holderTokens(at, "tenant-a/held")).containsExactly(token);
        }
      } finally {
        owner.forEach(ManagedChannel::shutdownNow);
        thief.forEach(ManagedChannel::shutdownNow);
      }
    }
  }
}
