package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.netty.shaded.io.netty.buffer.Unpooled;
import io.grpc.netty.shaded.io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class ConnectionGateTest {

  private final RefusalCounts refusals = new RefusalCounts();
  private final MemoryAlarm alarm = new MemoryAlarm();
  private final ServerLimits limits = ServerLimits.of(64L << 20, 64L << 20);
  private final ConnectionGate gate = new ConnectionGate(limits, new Safeguards(refusals, alarm));

  @AutoClose("finishAndReleaseAll")
  private final EmbeddedChannel listener = new EmbeddedChannel(gate);

  /** A connection from one address. */
  private static final class Connection extends EmbeddedChannel {
    @Override
    protected SocketAddress remoteAddress0() {
      return new InetSocketAddress("10.0.0.1", 1);
    }
  }

  private Connection connect() {
    Connection connection = new Connection();
    listener.writeInbound(connection);
    return connection;
  }

  @Test
  void connectionAboveTheLimitOfItsAddressIsClosedAndOneThatEndsMakesRoom() {
    // Given
    Connection first = connect();
    for (int i = 1; i < limits.addressConnections(); i++) {
      assertThat(connect().isOpen()).isTrue();
    }
    // When
    Connection rejected = connect();
    var unused = first.close();
    // Then
    assertThat(rejected.isOpen()).isFalse();
    assertThat(refusals.of(Limit.ADDRESS_CONNECTIONS)).isEqualTo(1);
    assertThat(connect().isOpen()).isTrue();
  }

  @Test
  void failedAllocationOfAConnectionRaisesTheAlarmAndItsBytesArePassedOn() {
    // Given
    Connection connection = connect();
    // When
    connection.writeInbound(Unpooled.wrappedBuffer(new byte[] {22}));
    connection.pipeline().fireExceptionCaught(new OutOfMemoryError("direct"));
    // Then
    assertThat(connection.inboundMessages()).hasSize(1);
    assertThat(alarm.impediment(System.nanoTime())).isPresent();
    connection.releaseInbound();
  }
}
