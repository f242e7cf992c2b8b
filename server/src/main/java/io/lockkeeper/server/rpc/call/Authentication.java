package io.lockkeeper.server.rpc.call;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.server.security.Audit;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.TooManyFailuresException;
import io.lockkeeper.server.security.UnauthenticatedException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Finds out who makes a call, and lets nobody in of whom that is not known, where that is demanded.
 *
 * <p>A bearer token counts before a certificate. What another coordinator has forwarded is the call
 * of the client that it names; only a connection whose certificate the authority for coordinators
 * has signed may name one, and such a certificate is no client's. Where callers need not be known,
 * others may forward calls, too, and what they say of the caller is not believed: he stays nobody
 * known, at the address that the connection comes from.
 */
public final class Authentication implements ServerInterceptor {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final String BEARER = "bearer ";

  private final AccessRules rules;
  private final Usage usage;

  /**
   * Prepares.
   *
   * @param rules by what callers are let in
   * @param usage counts what they ask for
   */
  public Authentication(AccessRules rules, Usage usage) {
    this.rules = rules;
    this.usage = usage;
  }

  /** Who makes a call, and from where. */
  private record Client(Identity identity, String peer) {

    /** Returns what his requests are counted under. */
    String account() {
      return identity.isAnonymous() ? Usage.accountAt(peer) : identity.name();
    }
  }

  @Override
  public <Q, R> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
    Access access = access(call, headers);
    access.countCall();
    CallGuard.delayErrorsIf(access::isOverLimit);
    Context context = access.in(Context.current());
    if (call.getMethodDescriptor().getType() == MethodDescriptor.MethodType.UNARY) {
      return Contexts.interceptCall(context, call, headers, next);
    }
    Context stream = untilExpiry(access, headers, context);
    access.usage().openStream(access.limits());
    AtomicBoolean open = new AtomicBoolean(true);
    Runnable close =
        () -> {
          if (open.compareAndSet(true, false)) {
            access.usage().closeStream();
          }
        };
    try {
      return new CountedStream<>(Contexts.interceptCall(stream, call, headers, next), close);
    } catch (RuntimeException | Error e) {
      close.run();
      throw e;
    }
  }

  /**
   * A stream whose token has expired is sent away, to come again with a fresh one. What was
   * forwarded is sent away by whoever has forwarded it.
   */
  private Context untilExpiry(Access access, Metadata headers, Context context) {
    Optional<String> token = token(headers);
    if (token.isEmpty() || headers.containsKey(PeerHeaders.FORWARDED_BY)) {
      return context;
    }
    try {
      return rules
          .authenticator()
          .expiryOf(token.get(), Usage.accountAt(access.peer()))
          .map(until -> CallGuard.leavingAfter(Duration.between(Instant.now(), until), context))
          .orElse(context);
    } catch (UnauthenticatedException e) { // It has expired in between.
      throw unauthenticated(access.rpc(), access.peer(), String.valueOf(e.getMessage()));
    } catch (TooManyFailuresException e) {
      throw Statuses.limitReached(String.valueOf(e.getMessage())).toException();
    }
  }

  /** Hears of the end of a stream: of one of the two, once. */
  private static final class CountedStream<Q> extends SimpleForwardingServerCallListener<Q> {
    private final Runnable close;

    CountedStream(ServerCall.Listener<Q> stream, Runnable close) {
      super(stream);
      this.close = close;
    }

    @Override
    public void onCancel() {
      close.run();
      super.onCancel();
    }

    @Override
    public void onComplete() {
      close.run();
      super.onComplete();
    }
  }

  private Access access(ServerCall<?, ?> call, Metadata headers) {
    String rpc = call.getMethodDescriptor().getFullMethodName();
    String peer = CallGuard.peer();
    try {
      Client client = client(ConnectionIdentity.of(call.getAttributes()), headers, peer);
      if (rules.identified() && client.identity().isAnonymous()) {
        throw new UnauthenticatedException(
            "nobody knows who calls: show a client certificate, or a bearer token");
      }
      return new Access(client.identity(), client.peer(), rpc, rules, usage.of(client.account()));
    } catch (UnauthenticatedException e) {
      throw unauthenticated(rpc, peer, String.valueOf(e.getMessage()));
    } catch (TooManyFailuresException e) {
      throw Statuses.limitReached(String.valueOf(e.getMessage())).toException();
    }
  }

  private Client client(ConnectionIdentity.Caller connection, Metadata headers, String peer) {
    if (headers.containsKey(PeerHeaders.FORWARDED_BY)) {
      if (connection.isPeer()) {
        return forwarded(headers, peer);
      }
      if (rules.identified()) {
        throw new UnauthenticatedException(
            "only a coordinator may forward calls: its certificate must be signed by this"
                + " coordinator's --peer-ca");
      }
      // Whoever sends it may be anybody: neither a name nor an address from him counts.
    }
    Optional<String> token = token(headers);
    if (token.isPresent()) {
      return new Client(
          rules.authenticator().ofBearerToken(token.get(), Usage.accountAt(peer)), peer);
    }
    if (connection.refusal().isPresent()) {
      throw new UnauthenticatedException(connection.refusal().get());
    }
    Optional<Identity> client = connection.identity().filter(who -> !connection.isPeer());
    return new Client(client.orElse(Identity.ANONYMOUS), peer);
  }

  private static Optional<String> token(Metadata headers) {
    Iterable<String> all = headers.getAll(AUTHORIZATION);
    if (all == null) {
      return Optional.empty();
    }
    Iterator<String> each = all.iterator();
    String token = bearer(each.next());
    if (each.hasNext()) {
      throw new UnauthenticatedException("there is more than one header 'authorization'");
    }
    return Optional.of(token);
  }

  private static String bearer(String authorization) {
    if (!authorization.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
      throw new UnauthenticatedException("the header 'authorization' must be 'Bearer' and a token");
    }
    return authorization.substring(BEARER.length()).trim();
  }

  private static Client forwarded(Metadata headers, String peer) {
    return new Client(
        Optional.ofNullable(headers.get(PeerHeaders.CALLER))
            .map(Authentication::decoded)
            .orElse(Identity.ANONYMOUS),
        Optional.ofNullable(headers.get(PeerHeaders.CALLER_ADDRESS)).orElse(peer));
  }

  /** Says in the headers of a call by which token its caller is known. */
  public static void addToken(Metadata headers, String token) {
    headers.put(AUTHORIZATION, "Bearer " + token);
  }

  /** Says in the headers of a forwarded call whose it is. */
  public static void addTo(Metadata headers, Access access) {
    headers.put(PeerHeaders.CALLER_ADDRESS, access.peer());
    if (!access.identity().isAnonymous()) {
      List<String> names = new ArrayList<>();
      for (String name : access.identity().names()) {
        names.add(Base64.getEncoder().encodeToString(name.getBytes(StandardCharsets.UTF_8)));
      }
      headers.put(PeerHeaders.CALLER, String.join(",", names));
    }
  }

  private static Identity decoded(String header) {
    List<String> names = new ArrayList<>();
    try {
      for (String name : header.split(",", -1)) {
        names.add(new String(Base64.getDecoder().decode(name), StandardCharsets.UTF_8));
      }
      return new Identity(names.get(0), names);
    } catch (IllegalArgumentException e) {
      throw new UnauthenticatedException("the name of the forwarded caller cannot be read");
    }
  }

  private StatusRuntimeException unauthenticated(String rpc, String peer, String message) {
    rules
        .audit()
        .record(
            new Audit.Entry(rpc, Identity.ANONYMOUS, peer, "UNAUTHENTICATED", message, Map.of()));
    return Statuses.unauthenticated(message).toException();
  }
}
