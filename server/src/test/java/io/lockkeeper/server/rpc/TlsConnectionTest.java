package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettySslContextChannelCredentials;
import io.grpc.protobuf.services.HealthStatusManager;
import io.lockkeeper.server.rpc.Certificates.Shape;
import io.lockkeeper.server.rpc.Certificates.Signed;
import io.lockkeeper.server.rpc.call.ConnectionIdentity;
import io.lockkeeper.server.rpc.call.ConnectionIdentity.Caller;
import io.lockkeeper.server.security.Identity;
import io.lockkeeper.server.security.tls.TlsFiles;
import io.lockkeeper.server.security.tls.TlsPaths;
import io.lockkeeper.server.testing.Calls;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.bouncycastle.asn1.x509.GeneralName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections over TLS to a server that notes who calls. */
class TlsConnectionTest {

  private static final int HANDSHAKE = 22;
  private static final int ALERT = 21;
  private static final int PROTOCOL_VERSION = 70;
  private static final int TLS_1_1 = 0x0302;
  private static final int TLS_1_2 = 0x0303;

  @TempDir private Path folder;

  private final Calls<Caller> callers = new Calls<>("a caller");
  private final HealthStatusManager health = new HealthStatusManager();
  private final List<ManagedChannel> channels = new ArrayList<>();
  private final List<Server> servers = new ArrayList<>();
  private Certificates clients;
  private Certificates peers;
  private Signed own;
  private TlsFiles files;

  @BeforeEach
  void makeFiles() throws Exception {
    clients = Certificates.authority(folder, "clients");
    peers = Certificates.authority(folder, "peers");
    own = peers.sign("own");
    files = open(own);
  }

  @AfterEach
  void stop() {
    channels.forEach(ManagedChannel::shutdownNow);
    servers.forEach(Server::shutdownNow);
  }

  private TlsFiles open(Signed certificate) throws IOException {
    return TlsFiles.open(
        new TlsPaths(
            certificate.certificate(),
            certificate.key(),
            Optional.of(clients.authority),
            Optional.of(peers.authority)),
        Clock.systemUTC());
  }

  private Server start(boolean certificateRequired) throws IOException {
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            Credentials.of(Optional.of(new GrpcSettings.Tls(files, certificateRequired))));
    Server server =
        builder
            .addTransportFilter(new ConnectionIdentity(files))
            .addService(health.getHealthService())
            .intercept(new NotingInterceptor())
            .build()
            .start();
    servers.add(server);
    return server;
  }

  private final class NotingInterceptor implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      callers.add(ConnectionIdentity.of(call.getAttributes()));
      return next.startCall(call, headers);
    }
  }

  private TlsChannelCredentials.Builder trusting() throws IOException {
    return TlsChannelCredentials.newBuilder().trustManager(peers.authority.toFile());
  }

  private ChannelCredentials showing(Signed certificate) throws IOException {
    return trusting()
        .keyManager(certificate.certificate().toFile(), certificate.key().toFile())
        .build();
  }

  /** Returns credentials that resume the TLS session of a connection with the next one. */
  private ChannelCredentials resuming(Signed certificate) throws IOException {
    return NettySslContextChannelCredentials.create(
        GrpcSslContexts.forClient()
            .trustManager(peers.authority.toFile())
            .keyManager(certificate.certificate().toFile(), certificate.key().toFile())
            .build());
  }

  private ManagedChannel channel(Server server, ChannelCredentials credentials) {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("localhost", server.getPort(), credentials).build();
    channels.add(channel);
    return channel;
  }

  private static void call(ManagedChannel channel) {
    HealthCheckResponse unused =
        HealthGrpc.newBlockingStub(channel)
            .withDeadlineAfter(Duration.ofSeconds(60))
            .check(HealthCheckRequest.getDefaultInstance());
  }

  private Caller callerOf(Server server, ChannelCredentials credentials) {
    call(channel(server, credentials));
    return callers.next();
  }

  private void assertThatNobodyIsLetIn(Server server, ChannelCredentials credentials) {
    StatusRuntimeException refused =
        catchThrowableOfType(
            StatusRuntimeException.class, () -> call(channel(server, credentials)));
    assertThat(refused.getStatus().getCode()).isEqualTo(Code.UNAVAILABLE);
    assertThat(callers.isEmpty()).isTrue();
  }

  private static void replace(Signed what, Signed by) throws IOException {
    Files.copy(by.certificate(), what.certificate(), StandardCopyOption.REPLACE_EXISTING);
    Files.copy(by.key(), what.key(), StandardCopyOption.REPLACE_EXISTING);
  }

  /** Files that have changed are taken at the second look. */
  private static void poll(TlsFiles changed) {
    changed.poll();
    changed.poll();
  }

  /** Returns the certificate that a connection sees which is made now. */
  private static X509Certificate shownBy(Server server) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Trusting()}, null);
    return shownBy(server, context);
  }

  private static X509Certificate shownBy(Server server, SSLContext context) throws Exception {
    try (Socket socket = context.getSocketFactory().createSocket("localhost", server.getPort())) {
      SSLSocket tls = (SSLSocket) socket;
      tls.setSoTimeout(60_000);
      tls.startHandshake();
      return (X509Certificate) tls.getSession().getPeerCertificates()[0];
    }
  }

  private static final class Trusting implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  @Test
  void clientIsWhomItsCertificateNames() throws Exception {
    // Given
    Signed client =
        clients.sign(
            "client",
            Shape.of("Shop")
                .withNames(
                    new GeneralName(GeneralName.dNSName, "Shop.example"),
                    new GeneralName(GeneralName.uniformResourceIdentifier, "spiffe://a/shop")));
    // When
    Caller caller = callerOf(start(true), showing(client));
    // Then
    assertThat(caller)
        .isEqualTo(
            new Caller(
                Optional.of(
                    new Identity(
                        "spiffe://a/shop",
                        List.of("spiffe://a/shop", "dns:shop.example", "subject:CN=Shop"))),
                false,
                Optional.empty()));
  }

  @Test
  void coordinatorIsKnownByWhoHasSignedItsCertificateAndByNothingElse() throws Exception {
    // Given
    Server server = start(true);
    Signed peer = peers.sign("peer", Shape.of("coordinator"));
    Signed pretender = clients.sign("pretender", Shape.of("coordinator"));
    // When // Then
    assertThat(callerOf(server, showing(peer)).isPeer()).isTrue();
    assertThat(callerOf(server, showing(pretender)).isPeer()).isFalse();
  }

  @Test
  void linkToAnotherCoordinatorShowsTheCertificateOfTheMoment() throws Exception {
    // Given
    Server server = start(true);
    Signed mine = peers.sign("mine");
    TlsFiles here = open(mine);
    var dialer = PeerCredentials.dialer(Optional.of(new GrpcSettings.Tls(here, true)));
    ManagedChannel before = dialer.dial("localhost:" + server.getPort()).build();
    channels.add(before);
    call(before);
    Caller first = callers.next();
    // When
    replace(mine, peers.sign("renewed"));
    poll(here);
    ManagedChannel after = dialer.dial("localhost:" + server.getPort()).build();
    channels.add(after);
    call(after);
    // Then
    assertThat(first.isPeer()).isTrue();
    assertThat(first.identity().orElseThrow().names()).contains("subject:CN=mine");
    assertThat(callers.next().identity().orElseThrow().names()).contains("subject:CN=renewed");
  }

  @Test
  void commonNameAloneIsTheSubjectsAndNoHosts() throws Exception {
    // Given
    Signed client = clients.sign("client", Shape.of("admin.example").withNames());
    // When
    Caller caller = callerOf(start(true), showing(client));
    // Then
    assertThat(caller.identity().orElseThrow().names()).containsExactly("subject:CN=admin.example");
  }

  @Test
  void certificateThatIsNotToBeBelievedOpensNoConnection() throws Exception {
    // Given
    Instant now = Instant.now();
    Duration day = Duration.ofDays(1);
    Server server = start(true);
    Certificates other = Certificates.authority(folder, "other");
    Signed expired =
        clients.sign(
            "expired",
            Shape.of("x").withValidity(now.minus(day), now.minus(Duration.ofMinutes(1))));
    Signed early = clients.sign("early", Shape.of("x").withValidity(now.plus(day), now.plus(day)));
    Signed pretender =
        Certificates.authority(folder, "selfsigned", Shape.of("clients")).sign("pretender");
    // When // Then
    assertThatNobodyIsLetIn(server, showing(other.sign("stranger")));
    assertThatNobodyIsLetIn(server, showing(expired));
    assertThatNobodyIsLetIn(server, showing(early));
    assertThatNobodyIsLetIn(server, showing(pretender));
    assertThatNobodyIsLetIn(server, trusting().build());
  }

  @Test
  void whereACertificateIsOneWayOfManyNoneIsAnUnknownCallerAndABadOneIsRefused() throws Exception {
    // Given
    Server server = start(false);
    Signed stranger = Certificates.authority(folder, "other").sign("stranger");
    // When // Then
    assertThat(callerOf(server, trusting().build())).isEqualTo(Caller.UNKNOWN);
    assertThat(callerOf(server, showing(clients.sign("client"))).identity()).isPresent();
    assertThatNobodyIsLetIn(server, showing(stranger));
  }

  @Test
  void certificateWithANameThatCannotBeUsedCountsForNothing() throws Exception {
    // Given
    Signed client =
        clients.sign(
            "client",
            Shape.of("x")
                .withNames(
                    new GeneralName(
                        GeneralName.uniformResourceIdentifier, "spiffe://a/" + "x".repeat(600))));
    // When
    Caller caller = callerOf(start(true), showing(client));
    // Then
    assertThat(caller.identity()).isEmpty();
    assertThat(caller.isPeer()).isFalse();
    assertThat(caller.refusal().orElseThrow()).contains("1 to 512 bytes");
  }

  @Test
  void streamThatIsOpenGoesOnAndTheNextConnectionSeesTheNewCertificate() throws Exception {
    // Given
    Server server = start(false);
    Received<HealthCheckRequest, HealthCheckResponse> watcher = Received.all();
    HealthGrpc.newStub(channel(server, showing(clients.sign("client"))))
        .watch(HealthCheckRequest.getDefaultInstance(), watcher);
    assertThat(watcher.next().getStatus()).isEqualTo(ServingStatus.SERVING);
    X509Certificate before = shownBy(server);
    Signed next = peers.sign("next");
    // When
    replace(own, next);
    poll(files);
    // Then
    health.setStatus("", ServingStatus.NOT_SERVING);
    assertThat(watcher.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
    assertThat(before).isEqualTo(own.parsed());
    assertThat(shownBy(server)).isEqualTo(next.parsed());
  }

  @Test
  void clientThatKeepsItsTlsSessionsSeesTheNewCertificateToo() throws Exception {
    // Given
    Server server = start(false);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Trusting()}, null);
    X509Certificate before = shownBy(server, context);
    Signed next = peers.sign("next");
    // When
    replace(own, next);
    poll(files);
    // Then
    assertThat(before).isEqualTo(own.parsed());
    assertThat(shownBy(server, context)).isEqualTo(next.parsed());
  }

  @Test
  void brokenNewFileKeepsTheOldCertificate() throws Exception {
    // Given
    Server server = start(false);
    // When
    Files.writeString(own.certificate(), "broken");
    poll(files);
    // Then
    assertThat(shownBy(server)).isEqualTo(own.parsed());
  }

  @Test
  void authorityThatIsReplacedIsNotBelievedByTheNextConnection() throws Exception {
    // Given: credentials that keep the TLS session of a connection for the next one
    Server server = start(true);
    ChannelCredentials old = resuming(clients.sign("client"));
    assertThat(callerOf(server, old).identity()).isPresent();
    Certificates successor = Certificates.authority(folder, "successor");
    ChannelCredentials fresh = showing(successor.sign("client2"));
    // When
    Files.copy(successor.authority, clients.authority, StandardCopyOption.REPLACE_EXISTING);
    poll(files);
    // Then
    assertThat(callerOf(server, fresh).identity()).isPresent();
    assertThatNobodyIsLetIn(server, old);
  }

  @Test
  void oldProtocolIsRefused() throws Exception {
    // Given
    Server server = start(false);
    // When // Then
    assertThat(answerTo(server, TLS_1_1, 0xC009, 0xC00A, 0xC013))
        .isEqualTo(new Answer(ALERT, PROTOCOL_VERSION));
    assertThat(answerTo(server, TLS_1_2, 0xC02B).type()).isEqualTo(HANDSHAKE);
  }

  @Test
  void cipherWithoutAuthenticationOrWithoutForwardSecrecyIsRefused() throws Exception {
    // Given
    Signed rsa = peers.signRsa("rsa");
    replace(own, rsa);
    poll(files);
    Server server = start(false);
    // When // Then: key exchange by RSA; CBC; RC4 and 3DES; and one that is good
    assertThat(answerTo(server, TLS_1_2, 0x009C, 0x009D, 0x002F, 0x0035).type())
        .isNotEqualTo(HANDSHAKE);
    assertThat(answerTo(server, TLS_1_2, 0xC013, 0xC014, 0xC027, 0xC028).type())
        .isNotEqualTo(HANDSHAKE);
    assertThat(answerTo(server, TLS_1_2, 0xC011, 0xC012).type()).isNotEqualTo(HANDSHAKE);
    assertThat(answerTo(server, TLS_1_2, 0xC02F).type()).isEqualTo(HANDSHAKE);
  }

  private record Answer(int type, int alert) {
    static final Answer NONE = new Answer(0, 0);
  }

  /** Offers a version and ciphers, which no library of today would, and returns the answer. */
  private static Answer answerTo(Server server, int version, int... ciphers) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getPort())) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(hello(version, ciphers));
      DataInputStream in = new DataInputStream(socket.getInputStream());
      byte[] head = in.readNBytes(7);
      return head.length < 7 ? Answer.NONE : new Answer(head[0], head[0] == ALERT ? head[6] : 0);
    }
  }

  private static byte[] hello(int version, int... ciphers) {
    ByteBuffer extensions = ByteBuffer.allocate(64);
    // supported_groups: x25519, secp256r1. signature_algorithms: RSA-PSS, ECDSA, PKCS1, SHA-1.
    put(extensions, 10, 0x001D, 0x0017);
    put(extensions, 13, 0x0804, 0x0403, 0x0401, 0x0201, 0x0203);
    extensions.flip();
    int body = 2 + 32 + 1 + 2 + 2 * ciphers.length + 2 + 2 + extensions.limit();
    ByteBuffer hello = ByteBuffer.allocate(9 + body);
    hello.put((byte) HANDSHAKE).putShort((short) 0x0301).putShort((short) (4 + body));
    hello.put((byte) 1).put((byte) 0).putShort((short) body);
    hello.putShort((short) version).put(new byte[32]).put((byte) 0);
    hello.putShort((short) (2 * ciphers.length));
    for (int cipher : ciphers) {
      hello.putShort((short) cipher);
    }
    hello.put((byte) 1).put((byte) 0).putShort((short) extensions.limit()).put(extensions);
    return hello.array();
  }

  private static void put(ByteBuffer extensions, int type, int... values) {
    int length = 2 * values.length;
    extensions.putShort((short) type).putShort((short) (length + 2)).putShort((short) length);
    for (int value : values) {
      extensions.putShort((short) value);
    }
  }
}
