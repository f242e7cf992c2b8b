package io.lockkeeper.cli.query;

import picocli.CommandLine.Parameters;

/** Which locks a command shows. */
final class PrefixParameter {

  @Parameters(
      arity = "0..1",
      paramLabel = "PREFIX",
      defaultValue = "",
      description = "Only names that begin with this.")
  String prefix = "";
}
