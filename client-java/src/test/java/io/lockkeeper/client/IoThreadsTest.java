package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.lockkeeper.client.internal.transport.IoThreads;
import io.lockkeeper.v1.GetLeaseRequest;
import io.lockkeeper.v1.LeaseServiceGrpc;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The threads that all channels of a process share, over real sockets. */
class IoThreadsTest {

  private static final int FEW = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);

  private final Set<Thread> before = ioThreads();
  private Server server;

  @BeforeEach
  void startServerWithoutServices() throws IOException {
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    server = NettyServerBuilder.forAddress(anyPort).directExecutor().build().start();
  }

  @AfterEach
  void stopServer() {
    server.shutdownNow();
  }

  private static Set<Thread> ioThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("lockkeeper-io"))
        .collect(Collectors.toSet());
  }

  private Set<Thread> started() {
    Set<Thread> started = ioThreads();
    started.removeAll(before);
    return started;
  }

  private ManagedChannel open(IoThreads threads) {
    return threads.build(
        NettyChannelBuilder.forTarget("127.0.0.1:" + server.getPort()).usePlaintext());
  }

  /** The server knows no methods; that it says so proves that the channel carries calls. */
  private static void call(ManagedChannel channel) {
    assertThatThrownBy(
            () ->
                LeaseServiceGrpc.newBlockingStub(channel)
                    .getLease(GetLeaseRequest.getDefaultInstance()))
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessageContaining("UNIMPLEMENTED");
  }

  @Test
  void manyChannelsShareFewThreadsThatEndAfterTheLast() {
    // Given
    IoThreads threads = new IoThreads(Duration.ofMillis(50));
    // When
    List<ManagedChannel> channels = IntStream.range(0, 20).mapToObj(i -> open(threads)).toList();
    channels.forEach(IoThreadsTest::call);
    // Then
    assertThat(started()).hasSizeBetween(1, FEW).allMatch(Thread::isDaemon);
    // When
    channels.forEach(ManagedChannel::shutdownNow);
    // Then
    await().untilAsserted(() -> assertThat(started()).isEmpty());
  }

  @Test
  void channelThatIsOpenedAfterTheLastWasShutDownWorks() {
    // Given
    IoThreads threads = new IoThreads(Duration.ofMillis(50));
    ManagedChannel first = open(threads);
    call(first);
    first.shutdown();
    await().untilAsserted(() -> assertThat(started()).isEmpty());
    // When
    ManagedChannel second = open(threads);
    // Then
    call(second);
    second.shutdownNow();
    await().untilAsserted(() -> assertThat(started()).isEmpty());
  }

  @Test
  void channelThatIsOpenedWhileTheThreadsLingerKeepsThem() {
    // Given
    IoThreads threads = new IoThreads(Duration.ofMillis(300));
    ManagedChannel first = open(threads);
    call(first);
    Set<Thread> carriers = started();
    // When
    first.shutdownNow();
    ManagedChannel second = open(threads);
    // Then
    await()
        .during(Duration.ofMillis(900))
        .untilAsserted(() -> assertThat(started()).isEqualTo(carriers).isNotEmpty());
    call(second);
    second.shutdownNow();
    await().untilAsserted(() -> assertThat(started()).isEmpty());
  }
}
