package io.lockkeeper.cli.shard;

import java.util.List;
import picocli.CommandLine.Option;

/** Where the servers of a shard are. */
final class AddressesOption {

  @Option(
      names = "--addresses",
      paramLabel = "HOST:PORT,...",
      required = true,
      split = ",",
      description = "Where its servers are, as clients reach them: 1 to 16.")
  private List<String> addresses = List.of();

  List<String> addresses() {
    return addresses;
  }
}
