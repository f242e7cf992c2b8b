package io.lockkeeper.integration.fuzz;

import com.google.protobuf.InvalidProtocolBufferException;
import io.lockkeeper.v1.AdminServiceCloseLeaseRequest;
import io.lockkeeper.v1.DrainRequest;
import io.lockkeeper.v1.FreezeRequest;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * What operators are not sent to do, since it would be done, and rightly: to freeze the locks of
 * witnesses or all of the attackers', to close the witnesses' leases, and to drain a coordinator
 * before its time has come.
 */
final class Spared {

  private final List<String> leases = new CopyOnWriteArrayList<>();
  private final Set<Integer> drained;

  /** Prepares; {@code drained} are the coordinators that may be drained. */
  Spared(Set<Integer> drained) {
    this.drained = drained;
  }

  /** No operator is sent to close the lease of that tag. */
  void lease(String tag) {
    leases.add(tag);
  }

  /** Returns whether a request by an operator to that coordinator is one of these. */
  boolean spares(Rpc rpc, byte[] request, int coordinator) {
    try {
      if (rpc.input().equals(DrainRequest.getDescriptor())) {
        return !drained.contains(coordinator);
      }
      if (rpc.input().equals(AdminServiceCloseLeaseRequest.getDescriptor())) {
        String lease = AdminServiceCloseLeaseRequest.parseFrom(request).getLease();
        return leases.stream().anyMatch(lease::startsWith);
      }
      if (rpc.input().equals(FreezeRequest.getDescriptor())) {
        String prefix = FreezeRequest.parseFrom(request).getPrefix();
        return Witness.TENANT.startsWith(prefix)
            || Words.TENANT.startsWith(prefix)
            || prefix.startsWith(Witness.TENANT);
      }
      return false;
    } catch (InvalidProtocolBufferException e) {
      // The server cannot read it either.
      return false;
    }
  }
}
