package io.lockkeeper.bench.lockkeeper;

import io.lockkeeper.bench.load.LoadProgram;
import java.util.List;

/** A load on Lockkeeper, or on bare gRPC. */
public final class LockkeeperLoad {

  private LockkeeperLoad() {}

  /**
   * Serves orders. Arguments: {@code lockkeeper}, {@code kept} (the same, which keeps its locks) or
   * {@code ping-pong}, the servers' addresses separated by commas, how many connections the clients
   * share, and the files of {@link Credentials}.
   */
  public static void main(String[] arguments) throws Exception {
    List<String> servers = List.of(arguments[1].split(",", -1));
    int connections = Integer.parseInt(arguments[2]);
    LoadProgram.run(
        switch (arguments[0]) {
          case "lockkeeper", "kept" ->
              LockkeeperLocks.connect(
                  servers,
                  connections,
                  Credentials.of(List.of(arguments).subList(3, arguments.length)),
                  arguments[0].equals("kept"));
          case "ping-pong" -> PingPong.connect(servers.get(0));
          default -> throw new IllegalArgumentException("no load: " + arguments[0]);
        });
  }
}
