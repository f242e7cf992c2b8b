package io.lockkeeper.client.internal.transport;

import io.grpc.CallCredentials;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.SecurityLevel;
import io.grpc.Status;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Sends a token with every call, as {@code authorization: Bearer ...}. Never where somebody may
 * listen in: over TLS, or in plaintext within this machine.
 */
public final class BearerToken extends CallCredentials {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]+");

  private final Supplier<String> token;

  /**
   * Makes credentials.
   *
   * @param token is asked at each call, on a thread that must not wait. What it throws fails that
   *     call as an unreachable server does: it is tried again
   */
  public BearerToken(Supplier<String> token) {
    this.token = token;
  }

  @Override
  public void applyRequestMetadata(RequestInfo call, Executor executor, MetadataApplier applier) {
    if (call.getSecurityLevel() != SecurityLevel.PRIVACY_AND_INTEGRITY && !isWithinMachine(call)) {
      applier.fail(
          Status.UNAUTHENTICATED.withDescription(
              "the token is not sent in plaintext to another machine: use TLS"));
      return;
    }
    String current;
    try {
      current = token.get();
    } catch (RuntimeException e) {
      applier.fail(
          Status.UNAVAILABLE
              .withDescription("there is no token at the moment: " + e.getMessage())
              .withCause(e));
      return;
    }
    if (!TOKEN.matcher(current).matches()) {
      applier.fail(
          Status.UNAUTHENTICATED.withDescription(
              "the token is empty, or has other characters than printable ASCII without blanks"));
      return;
    }
    Metadata headers = new Metadata();
    headers.put(AUTHORIZATION, "Bearer " + current);
    applier.apply(headers);
  }

  /** The address alone does not say so: it may be that of a proxy on this machine. */
  private static boolean isWithinMachine(RequestInfo call) {
    return call.getTransportAttrs().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR)
            instanceof InetSocketAddress remote
        && remote.getAddress() != null
        && remote.getAddress().isLoopbackAddress()
        && Target.parseList(call.getAuthority()).stream().allMatch(Target::isLoopback);
  }
}
