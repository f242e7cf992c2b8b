package io.lockkeeper.server.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerLimitsTest {

  private static final long MIB = 1 << 20;

  @ParameterizedTest
  @CsvSource({"256,64", "384,384", "1024,256", "8192,8192"})
  void whatTheLimitsLetInFitsIntoMemory(long heapMib, long directMib) {
    // When
    ServerLimits limits = ServerLimits.of(heapMib * MIB, directMib * MIB);
    // Then: the windows of all connections and all requests that are not whole
    long direct = (long) limits.connections() * ServerLimits.WINDOW_BYTES + limits.partialBytes();
    assertThat(direct).isLessThanOrEqualTo(directMib * MIB * 3 / 4);
    // and on each connection headers that have not arrived whole, as large as they may be
    long headers = GrpcLimits.DEFAULTS.maxHeaderListBytes() * 5L / 4;
    assertThat(direct + limits.connections() * headers).isLessThanOrEqualTo(directMib * MIB);
    // a call with all the metadata that it may have
    long calls = (long) limits.calls() * (GrpcLimits.DEFAULTS.maxMetadataBytes() + 4 * 1024);
    assertThat(calls + limits.unreadBytes()).isLessThan(heapMib * MIB * 3 / 5);
    assertThat(limits.addressConnections()).isLessThan(limits.connections());
    assertThat(limits.addressCalls()).isLessThan(limits.calls());
  }
}
