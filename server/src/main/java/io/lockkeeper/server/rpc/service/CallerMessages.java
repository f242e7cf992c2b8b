package io.lockkeeper.server.rpc.service;

import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.wire.ProtoDurations;
import io.lockkeeper.server.rpc.wire.RequestReader;
import io.lockkeeper.server.rpc.wire.ServerVersion;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.CallerLimits;
import io.lockkeeper.v1.CredentialKind;
import io.lockkeeper.v1.WhoAmIResponse;
import java.util.Arrays;

/** Says to a caller who he is. */
final class CallerMessages {

  private CallerMessages() {}

  /** Returns who makes a call, and his rights on the locks that he asks about. */
  static WhoAmIResponse toResponse(Access access, RequestReader.Scope scope, String coordinatorId) {
    Identity identity = access.identity();
    return WhoAmIResponse.newBuilder()
        .setIdentity(identity.name())
        .addAllNames(identity.names())
        .setCredential(credential(identity))
        .setAddress(access.peer())
        .addAllRights(
            Arrays.stream(Right.values())
                .filter(
                    right ->
                        scope
                            .lock()
                            .map(lock -> access.permits(right, lock))
                            .orElseGet(() -> access.permitsAll(right, scope.prefix())))
                .map(Right::key)
                .toList())
        .setLimits(toLimits(access.limits()))
        .setCoordinatorId(coordinatorId)
        .setVersion(ServerVersion.text())
        .build();
  }

  /** A name says where it comes from. */
  private static CredentialKind credential(Identity identity) {
    if (identity.isAnonymous()) {
      return CredentialKind.CREDENTIAL_KIND_NONE;
    }
    if (identity.name().startsWith("jwt:")) {
      return CredentialKind.CREDENTIAL_KIND_JWT;
    }
    return identity.name().startsWith("token:")
        ? CredentialKind.CREDENTIAL_KIND_STATIC_TOKEN
        : CredentialKind.CREDENTIAL_KIND_CERTIFICATE;
  }

  private static CallerLimits toLimits(Limits limits) {
    return CallerLimits.newBuilder()
        .setLeases(limits.leases())
        .setAcquisitions(limits.acquisitions())
        .setEntryBytes(limits.entryBytes())
        .setPathBytes(limits.pathBytes())
        .setQueuePlaces(limits.queuePlaces())
        .setFreezes(limits.freezes())
        .setStreams(limits.streams())
        .setWatches(limits.watches())
        .setRequestsPerSecond(limits.requestsPerSecond())
        .setMetadataBytes(limits.metadataBytes())
        .setMaxTtl(ProtoDurations.ofNanos(limits.maxTtl().toNanos()))
        .setMaxWait(ProtoDurations.ofNanos(limits.maxWait().toNanos()))
        .setMaxLockDelay(ProtoDurations.ofNanos(limits.maxLockDelay().toNanos()))
        .build();
  }
}
