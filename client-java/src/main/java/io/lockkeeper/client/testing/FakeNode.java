package io.lockkeeper.client.testing;

import io.lockkeeper.client.internal.Loop;

/** One server of those that share leases and locks in memory. On their loop only. */
final class FakeNode {

  final Network network;
  boolean overloaded;

  FakeNode(Loop loop) {
    this.network = new Network(loop);
  }
}
