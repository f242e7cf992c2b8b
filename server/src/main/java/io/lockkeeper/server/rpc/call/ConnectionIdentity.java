package io.lockkeeper.server.rpc.call;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.ServerTransportFilter;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.UnauthenticatedException;
import io.lockkeeper.server.security.tls.CertificateIdentity;
import io.lockkeeper.server.security.tls.TlsFiles;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/** Finds out once for each connection who is at its other end, as its certificate proves. */
public final class ConnectionIdentity extends ServerTransportFilter {

  private static final Attributes.Key<Caller> CALLER = Attributes.Key.create("caller");

  private final TlsFiles files;

  /**
   * Who is at the other end.
   *
   * @param identity whom the certificate names; empty: none was shown, or none that counts
   * @param isPeer whether it is another coordinator: it may hand on what clients ask for, and is no
   *     client itself
   * @param refusal why the certificate that was shown does not count; empty: it does, or there is
   *     none
   */
  public record Caller(Optional<Identity> identity, boolean isPeer, Optional<String> refusal) {

    /** Somebody without a certificate. */
    public static final Caller UNKNOWN = new Caller(Optional.empty(), false, Optional.empty());

    private static Caller refused(String why) {
      return new Caller(Optional.empty(), false, Optional.of(why));
    }
  }

  /** Makes a filter for a server that speaks TLS with these files. */
  public ConnectionIdentity(TlsFiles files) {
    this.files = files;
  }

  @Override
  public Attributes transportReady(Attributes attributes) {
    SSLSession session = attributes.get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
    return session == null
        ? attributes
        : attributes.toBuilder().set(CALLER, caller(chain(session))).build();
  }

  /** Returns the attributes of a connection whose other end a certificate has named to others. */
  public static Attributes certified(Attributes attributes, Optional<Identity> identity) {
    return attributes.toBuilder()
        .set(CALLER, new Caller(identity, false, Optional.empty()))
        .build();
  }

  /** Returns who is at the other end of the connection that a call came by. */
  public static Caller of(Attributes attributes) {
    Caller caller = attributes.get(CALLER);
    return caller == null ? Caller.UNKNOWN : caller;
  }

  private static List<X509Certificate> chain(SSLSession session) {
    try {
      Certificate[] shown = session.getPeerCertificates();
      return Arrays.stream(shown).map(X509Certificate.class::cast).toList();
    } catch (SSLPeerUnverifiedException e) {
      return List.of(); // that is how a session says that it has none
    }
  }

  /**
   * Returns which client has shown a chain of certificates.
   *
   * @throws UnauthenticatedException if it is no client's; the message says why
   */
  public Identity client(List<X509Certificate> chain) {
    Caller caller = caller(chain);
    if (caller.refusal().isPresent()) {
      throw new UnauthenticatedException(caller.refusal().get());
    }
    return caller
        .identity()
        .filter(who -> !caller.isPeer())
        .orElseThrow(
            () -> new UnauthenticatedException("the certificate is a coordinator's, no client's"));
  }

  /** The handshake has proved that the caller has the key, and that one of both has signed it. */
  private Caller caller(List<X509Certificate> chain) {
    if (chain.isEmpty()) {
      return Caller.UNKNOWN;
    }
    boolean peer = files.isPeer(chain);
    if (!peer && !files.isClient(chain)) {
      return Caller.refused("no authority that this server trusts has signed the certificate");
    }
    try {
      return new Caller(Optional.of(CertificateIdentity.of(chain.get(0))), peer, Optional.empty());
    } catch (UnauthenticatedException e) {
      return Caller.refused(String.valueOf(e.getMessage()));
    }
  }
}
