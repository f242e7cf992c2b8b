package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class SlotsTest {

  private static SocketAddress at(String address) throws UnknownHostException {
    return new InetSocketAddress(InetAddress.getByName(address), 1);
  }

  @Test
  void addressThatHasItsShareIsRefusedAndOthersAreNot() throws Exception {
    // Given
    Slots slots = new Slots(3, 2);
    slots.take(at("10.0.0.1"));
    slots.take(at("10.0.0.1"));
    // Then
    assertThat(slots.take(at("10.0.0.1"))).contains(Slots.Full.OF_ADDRESS);
    assertThat(slots.take(at("10.0.0.2"))).isEmpty();
    assertThat(slots.take(at("10.0.0.3"))).contains(Slots.Full.IN_ALL);
    assertThat(slots.taken()).isEqualTo(3);
  }

  @Test
  void placeThatIsFreedCanBeTakenAgain() throws Exception {
    // Given
    Slots slots = new Slots(2, 1);
    slots.take(at("10.0.0.1"));
    slots.take(at("10.0.0.1"));
    // When
    slots.free(at("10.0.0.1"));
    // Then
    assertThat(slots.taken()).isZero();
    assertThat(slots.take(at("10.0.0.1"))).isEmpty();
  }

  @Test
  void addressesOfOneNetworkOfIpv6CountAsOne() throws Exception {
    // Given
    Slots slots = new Slots(9, 1);
    slots.take(at("2001:db8:0:1::1"));
    // Then
    assertThat(slots.take(at("2001:db8:0:1:ffff::2"))).contains(Slots.Full.OF_ADDRESS);
    assertThat(slots.take(at("2001:db8:0:2::1"))).isEmpty();
  }

  @Test
  void whatHasNoAddressIsLimitedInAllOnly() {
    // Given
    Slots slots = new Slots(2, 1);
    SocketAddress nowhere = InetSocketAddress.createUnresolved("nowhere", 0);
    slots.take(nowhere);
    // Then
    assertThat(slots.take(nowhere)).isEmpty();
    assertThat(slots.take(nowhere)).contains(Slots.Full.IN_ALL);
  }
}
