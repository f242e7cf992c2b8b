package io.lockkeeper.server.rpc.wire;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import io.lockkeeper.server.coordinator.api.ChosenSecret;
import io.lockkeeper.server.core.lock.LeaseId;
import io.lockkeeper.server.core.lock.LeaseName;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.OpenLeaseRequest;
import io.lockkeeper.v1.SessionRequest;
import java.util.Optional;

/** Knows which requests name a lease, and which one. */
public final class NamedLease {

  private static final String FIELD = "lease_id";

  private NamedLease() {}

  /**
   * Returns whether the first request of such calls may name a lease on which the whole call
   * depends.
   */
  public static boolean mayBeIn(MethodDescriptor<?, ?> method) {
    if (!(method.getSchemaDescriptor() instanceof ProtoMethodDescriptorSupplier schema)) {
      return false;
    }
    var request = schema.getMethodDescriptor().getInputType();
    return method.getType().clientSendsOneMessage()
        ? isForceClose(method)
            || request.findFieldByName(FIELD) != null
            || request.getFullName().equals(OpenLeaseRequest.getDescriptor().getFullName())
        : request.getFullName().equals(SessionRequest.getDescriptor().getFullName());
  }

  /** Returns whether such a call closes a lease, whosever it is. */
  private static boolean isForceClose(MethodDescriptor<?, ?> method) {
    return method.getSchemaDescriptor() instanceof ProtoMethodDescriptorSupplier schema
        && schema
            .getMethodDescriptor()
            .getInputType()
            .getFullName()
            .equals(AdminServiceCloseLeaseRequest.getDescriptor().getFullName());
  }

  /**
   * Returns the tag of the lease that a request names. Where it names no more, nobody can look up
   * who serves the lease: all are to be asked.
   */
  public static Optional<String> tagIn(Object request) {
    return request instanceof AdminServiceCloseLeaseRequest close
        ? LeaseName.parse(close.getLease()).map(LeaseName::tag)
        : of(request).map(LeaseId::tag);
  }

  /** Returns the lease that a request names by its id. */
  public static Optional<LeaseId> of(Object request) {
    if (request instanceof AdminServiceCloseLeaseRequest close) {
      return LeaseId.parse(close.getLease());
    }
    if (request instanceof SessionRequest session) {
      return opened(session.getOpen().getLeaseId(), session.getOpen().getLeaseSecret());
    }
    if (request instanceof OpenLeaseRequest open) {
      return opened("", open.getLeaseSecret());
    }
    if (request instanceof Message message) {
      FieldDescriptor field = message.getDescriptorForType().findFieldByName(FIELD);
      return field == null
          ? Optional.empty()
          : LeaseId.parse(String.valueOf(message.getField(field)));
    }
    return Optional.empty();
  }

  private static Optional<LeaseId> opened(String lease, String secret) {
    return lease.isEmpty() && !secret.isEmpty()
        ? Optional.of(ChosenSecret.leaseId(secret))
        : LeaseId.parse(lease);
  }

  /** Returns whether a request opens a lease: one that nobody serves can be opened anywhere. */
  public static boolean opens(Object request) {
    return request instanceof OpenLeaseRequest
        || (request instanceof SessionRequest session && session.getOpen().getLeaseId().isEmpty());
  }

  /**
   * Returns whether such a call may be about an acquisition whose lease is another call: only the
   * coordinator that has that call knows of it.
   */
  public static boolean mayBeOfAStream(MethodDescriptor<?, ?> method) {
    return method.getType() == MethodType.UNARY
        && method.getSchemaDescriptor() instanceof ProtoMethodDescriptorSupplier schema
        && (isForceClose(method)
            || schema.getMethodDescriptor().getInputType().findFieldByName("request_id") != null);
  }

  /** Returns whether the requests of a call come one by one. */
  public static boolean isStream(MethodDescriptor<?, ?> method) {
    return method.getType() == MethodType.BIDI_STREAMING;
  }
}
