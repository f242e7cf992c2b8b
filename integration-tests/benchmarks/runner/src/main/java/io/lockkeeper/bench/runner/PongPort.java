package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.LoadProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** The port that the server of the bare ping-pong tells. */
final class PongPort {

  private PongPort() {}

  /** Reads lines until the one with the port. */
  static int read(Child server) throws IOException {
    BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(server.process().getInputStream(), StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith(LoadProgram.MARK)) {
        return Integer.parseInt(line.substring(LoadProgram.MARK.length()));
      }
    }
    throw new IOException("the server has ended: see " + server.log());
  }
}
