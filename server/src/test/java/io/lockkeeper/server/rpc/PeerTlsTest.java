package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.lockkeeper.server.coordinator.api.LeaseLocation;
import io.lockkeeper.server.coordinator.api.Peer;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Failure.Reason;
import io.lockkeeper.server.testing.FakeCoordinator;
import io.lockkeeper.server.testing.ViewSamples;
import io.lockkeeper.v1.CloseLeaseRequest;
import io.lockkeeper.v1.CloseLeaseResponse;
import io.lockkeeper.v1.LeaseServiceGrpc;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Coordinators that speak TLS to each other, each with the certificate that clients see. */
class PeerTlsTest {

  @TempDir private Path folder;

  private final FakeCoordinator here = new FakeCoordinator();
  private final FakeCoordinator there = new FakeCoordinator();
  private final List<GrpcEndpoint> endpoints = new ArrayList<>();

  @AfterEach
  void stop() {
    endpoints.forEach(endpoint -> endpoint.stop(Duration.ZERO));
  }

  private GrpcEndpoint start(String id, FakeCoordinator coordinator, GrpcSettings.Tls tls)
      throws IOException {
    GrpcEndpoint endpoint =
        new GrpcEndpoint(GrpcSettings.of("127.0.0.1", 0, Optional.of(tls), id), coordinator);
    endpoints.add(endpoint);
    endpoint.start();
    endpoint.meetPeers();
    return endpoint;
  }

  private static ManagedChannel channel(
      GrpcEndpoint endpoint, Path authority, Certificates.Signed client) throws IOException {
    return NettyChannelBuilder.forAddress(
            "localhost",
            endpoint.port(),
            TlsChannelCredentials.newBuilder()
                .trustManager(authority.toFile())
                .keyManager(client.certificate().toFile(), client.key().toFile())
                .build())
        .build();
  }

  private void assertThatTheyForward(
      GrpcEndpoint asked, GrpcEndpoint owner, Path authority, Certificates.Signed client)
      throws IOException {
    here.servedBy(new LeaseLocation.At(new Peer("there", "localhost:" + owner.port())));
    ManagedChannel channel = channel(asked, authority, client);
    Received<CloseLeaseRequest, CloseLeaseResponse> received = Received.all();
    LeaseServiceGrpc.newStub(channel)
        .closeLease(
            CloseLeaseRequest.newBuilder().setLeaseId(ViewSamples.LEASE.toString()).build(),
            received);
    here.closeLeases
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.UNKNOWN_LEASE));
    there.closeLeases.next().answer().complete(new Answer.LeaseClosed(true));
    assertThat(received.next().getAlreadyEnded()).isTrue();
    channel.shutdownNow();
  }

  @Test
  void coordinatorsThatDemandCertificatesTrustThoseOfTheirClientsAuthority() throws Exception {
    // Given
    Certificates authority = Certificates.authority(folder, "ca");
    GrpcEndpoint asked = start("here", here, mutual(authority, "one", authority.authority));
    GrpcEndpoint owner = start("there", there, mutual(authority, "two", authority.authority));
    // When // Then
    assertThatTheyForward(asked, owner, authority.authority, authority.sign("client"));
  }

  private static GrpcSettings.Tls mutual(Certificates authority, String name, Path clientCa)
      throws Exception {
    Certificates.Signed own = authority.sign(name);
    return Certificates.tls(own, Optional.of(clientCa));
  }

  @Test
  void authorityForPeersCountsMoreThanTheOneForClients() throws Exception {
    // Given
    Certificates clients = Certificates.authority(folder, "clients");
    Certificates servers = Certificates.authority(folder, "servers");
    Certificates.Signed one = servers.sign("one");
    Certificates.Signed two = servers.sign("two");
    GrpcEndpoint asked =
        start(
            "here",
            here,
            Certificates.tls(one, Optional.of(clients.authority), Optional.of(servers.authority)));
    GrpcEndpoint owner = start("there", there, Certificates.tls(two, Optional.empty()));
    // When // Then
    assertThatTheyForward(asked, owner, servers.authority, clients.sign("client"));
  }

  @Test
  void oneCertificateForAllNeedsNoAuthority() throws Exception {
    // Given
    Certificates authority = Certificates.authority(folder, "ca");
    Certificates.Signed shared = authority.sign("shared");
    GrpcSettings.Tls tls = Certificates.tls(shared, Optional.empty());
    GrpcEndpoint asked = start("here", here, tls);
    GrpcEndpoint owner = start("there", there, tls);
    // When // Then
    assertThatTheyForward(asked, owner, authority.authority, authority.sign("client"));
  }

  @Test
  void strangerWhoHasTakenAPeersAddressIsNotTrusted() throws Exception {
    // Given
    Certificates ours = Certificates.authority(folder, "ca");
    Certificates theirs = Certificates.authority(folder, "other");
    Certificates.Signed client = ours.sign("client");
    start("here", here, mutual(ours, "one", ours.authority));
    GrpcEndpoint stranger = start("stranger", there, mutual(theirs, "evil", theirs.authority));
    ManagedChannel channel = channel(endpoints.get(0), ours.authority, client);
    // When
    here.servedBy(new LeaseLocation.At(new Peer("there", "localhost:" + stranger.port())));
    LeaseServiceGrpc.newStub(channel)
        .closeLease(
            CloseLeaseRequest.newBuilder().setLeaseId(ViewSamples.LEASE.toString()).build(),
            Received.all());
    here.closeLeases
        .next()
        .answer()
        .completeExceptionally(ViewSamples.refused(Reason.UNKNOWN_LEASE));
    // Then: all of an asking client's patience has brought no answer that it believes
    assertThat(here.suspects.next()).isEqualTo("there");
    assertThat(there.closeLeases.isEmpty()).isTrue();
    channel.shutdownNow();
  }
}
