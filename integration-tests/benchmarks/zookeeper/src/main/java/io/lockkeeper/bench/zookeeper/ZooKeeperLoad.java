package io.lockkeeper.bench.zookeeper;

import io.lockkeeper.bench.load.LoadProgram;
import io.lockkeeper.bench.load.LoadedSystem;
import java.util.Optional;

/** A load on ZooKeeper. */
public final class ZooKeeperLoad {

  private ZooKeeperLoad() {}

  /**
   * Serves orders. Arguments: {@code raw-async}, {@code raw-multi}, {@code mirrored-multi} or
   * {@code curator}, ZooKeeper's address, and how many connections the clients share.
   */
  public static void main(String[] arguments) throws Exception {
    String servers = arguments[1];
    int connections = Integer.parseInt(arguments[2]);
    LoadedSystem system =
        switch (arguments[0]) {
          case "raw-async" -> new SingleWrites(Connections.open(servers, connections));
          case "raw-multi" ->
              new Transactions(Connections.open(servers, connections), Optional.empty());
          case "mirrored-multi" -> {
            Connections opened = Connections.open(servers, connections);
            yield new Transactions(opened, Optional.of(SeenWrites.watch(opened)));
          }
          case "curator" -> CuratorLocks.connect(servers, connections);
          default -> throw new IllegalArgumentException("no load: " + arguments[0]);
        };
    LoadProgram.run(system);
  }
}
