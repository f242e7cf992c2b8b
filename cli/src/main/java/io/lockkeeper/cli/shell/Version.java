package io.lockkeeper.cli.shell;

import io.lockkeeper.server.rpc.wire.ServerVersion;
import picocli.CommandLine.IVersionProvider;

/** Says which version this is. */
public final class Version implements IVersionProvider {

  @Override
  public String[] getVersion() {
    return new String[] {"lockkeeper " + ServerVersion.text()};
  }
}
