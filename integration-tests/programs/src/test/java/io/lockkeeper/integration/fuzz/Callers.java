package io.lockkeeper.integration.fuzz;

import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import io.lockkeeper.integration.harness.TlsContexts;
import io.lockkeeper.server.rpc.Certificates;
import io.lockkeeper.server.rpc.Certificates.Shape;
import io.lockkeeper.server.rpc.Certificates.Signed;
import io.lockkeeper.server.security.StaticTokens;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import org.bouncycastle.asn1.x509.GeneralName;

/** Who calls the coordinators, and what each of them has to show for it. */
final class Callers {

  /** The header that says who calls. */
  static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** Who connects, by what certificate. */
  enum Caller {
    /** Has all rights below {@link Words#TENANT}. */
    ATTACKER("spiffe://fuzz/a"),
    /** Has the same rights, and leases of its own. */
    RIVAL("spiffe://fuzz/rival"),
    /** Has the same rights, and may do everywhere what operators do. */
    OPERATOR("spiffe://fuzz/operator"),
    /** Has a certificate with the name of a coordinator, signed as those of clients are. */
    IMPOSTOR(""),
    /** Has a certificate that nobody whom they trust has signed. */
    STRANGER(""),
    /** Is not to be disturbed. */
    WITNESS("spiffe://fuzz/witness"),
    /** Shows no certificate, and may have a token. */
    NOBODY("");

    private final String uri;

    Caller(String uri) {
      this.uri = uri;
    }

    /** Returns the name that the caller is known by, if it has one. */
    String uri() {
      return uri;
    }
  }

  private final Path directory;
  private final Certificates coordinators;
  private final Signed server;
  private final Certificates clients;
  private final Map<Caller, Signed> certificates = new EnumMap<>(Caller.class);
  private final List<StaticTokens.Fresh> tokens = new ArrayList<>();

  private Callers(Path directory) throws Exception {
    this.directory = directory;
    this.coordinators = Certificates.authority(directory, "coordinators");
    this.server = coordinators.sign("coordinator");
    this.clients = Certificates.authority(directory, "clients");
    for (Caller caller : Caller.values()) {
      if (!caller.uri.isEmpty()) {
        GeneralName name = new GeneralName(GeneralName.uniformResourceIdentifier, caller.uri);
        certificates.put(
            caller, clients.sign(caller.name(), Shape.of(caller.name()).withNames(name)));
      }
    }
    certificates.put(
        Caller.IMPOSTOR, clients.sign(Caller.IMPOSTOR.name(), Shape.of("coordinator")));
    certificates.put(
        Caller.STRANGER, Certificates.authority(directory, "strangers").sign("stranger"));
    SecureRandom random = new SecureRandom();
    StringBuilder lines = new StringBuilder("tokens:\n");
    for (String name : List.of("t", "stranger")) {
      tokens.add(StaticTokens.make(name, random));
      lines.append("  ").append(tokens.get(tokens.size() - 1).line()).append('\n');
    }
    Files.writeString(directory.resolve("tokens.yaml"), lines);
  }

  /** Makes their certificates and tokens. */
  static Callers in(Path directory) {
    try {
      return new Callers(directory);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the settings of a coordinator that knows them. */
  List<String> flags() {
    return List.of(
        "--tls-cert=" + server.certificate(),
        "--tls-key=" + server.key(),
        "--tls-client-ca=" + clients.authority,
        "--peer-ca=" + coordinators.authority,
        "--tokens=" + directory.resolve("tokens.yaml"));
  }

  /** Returns what connects below gRPC as somebody who has a certificate. */
  SSLContext context(Caller caller) {
    Signed own = Objects.requireNonNull(certificates.get(caller));
    return TlsContexts.showing(coordinators.authority, own, List.of());
  }

  /** Returns a new connection, for the caller to shut down. */
  ManagedChannel connect(Caller caller, int port) {
    try {
      TlsChannelCredentials.Builder credentials =
          TlsChannelCredentials.newBuilder().trustManager(coordinators.authority.toFile());
      Signed own = certificates.get(caller);
      if (own != null) {
        credentials.keyManager(own.certificate().toFile(), own.key().toFile());
      }
      return Grpc.newChannelBuilder("localhost:" + port, credentials.build()).build();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the header of somebody who has the rights of the attackers by a token. */
  String token() {
    return "Bearer " + tokens.get(0).token();
  }

  /** Returns the header of somebody who is known and may do nothing. */
  String strangersToken() {
    return "Bearer " + tokens.get(1).token();
  }
}
