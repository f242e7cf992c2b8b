package io.lockkeeper.server.rpc.wire;

/** Says which version this is, as the jar's manifest has it. */
public final class ServerVersion {

  private ServerVersion() {}

  /** Returns the version; {@code development} where there is no jar. */
  public static String text() {
    String version = ServerVersion.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
