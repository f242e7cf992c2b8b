package io.lockkeeper.server.rpc;

import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import io.lockkeeper.server.rpc.call.AccessRules;
import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.Authenticator;
import io.lockkeeper.server.security.Authority;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.UnauthenticatedException;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** A server that knows its callers by tokens: the token {@code t-shop} is {@code token:shop}'s. */
final class SecuredServer implements AutoCloseable {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** Behind a name: the token expires in a moment. */
  static final String BRIEF = "-brief";

  final List<Audit.Entry> audited = new CopyOnWriteArrayList<>();
  final InProcess server;

  SecuredServer(Authority authority) {
    Authenticator tokens = new Tokens();
    server = InProcess.onRealCoordinator(new AccessRules(true, tokens, authority, audited::add));
  }

  private static final class Tokens implements Authenticator {
    @Override
    public Identity ofBearerToken(String token, String address) {
      if (!token.startsWith("t-")) {
        throw new UnauthenticatedException("nobody has this token");
      }
      return Identity.of("token:" + token.substring(2).replace(BRIEF, ""));
    }

    @Override
    public Optional<Instant> expiryOf(String token, String address) {
      return token.endsWith(BRIEF) ? Optional.of(Instant.now().plusSeconds(2)) : Optional.empty();
    }
  }

  static ClientInterceptor header(String name, String value) {
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
    return MetadataUtils.newAttachHeadersInterceptor(headers);
  }

  private static ClientInterceptor token(String who) {
    return header(AUTHORIZATION.name(), "Bearer t-" + who);
  }

  LockServiceGrpc.LockServiceStub locks(String who) {
    return server.locks().withInterceptors(token(who));
  }

  LockServiceGrpc.LockServiceBlockingStub locksNow(String who) {
    return server.locksNow().withInterceptors(token(who));
  }

  LeaseServiceGrpc.LeaseServiceStub leases(String who) {
    return server.leases().withInterceptors(token(who));
  }

  LeaseServiceGrpc.LeaseServiceBlockingStub leasesNow(String who) {
    return server.leasesNow().withInterceptors(token(who));
  }

  AdminServiceGrpc.AdminServiceBlockingStub admin(String who) {
    return server.admin().withInterceptors(token(who));
  }

  @Override
  public void close() {
    server.close();
  }
}
