package io.lockkeeper.cli.text;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How a command prints a list. */
public final class ListOptions {

  @Mixin private OutputOptions output;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "table|json|name",
      defaultValue = "table",
      description =
          "table; json: as --json; name: names only, one to a line. [default ${DEFAULT-VALUE}]")
  private Format format = Format.TABLE;

  /** How a list is printed. */
  public enum Format {
    /** Rows and columns. */
    TABLE,
    /** JSON. */
    JSON,
    /** Names. */
    NAME
  }

  /** Returns how the list is printed. */
  public Format format() {
    return output.isJson() ? Format.JSON : format;
  }

  /** Returns how words may stand out. */
  public Style style() {
    return output.style();
  }
}
