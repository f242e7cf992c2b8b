package io.lockkeeper.client;

import io.lockkeeper.testing.ManualClock;
import java.time.Duration;

/** A client of a server that answers as a test says, both on a clock that moves when told. */
final class ScriptedClient implements AutoCloseable {

  final ManualClock clock = new ManualClock();
  final ScriptedServer server = new ScriptedServer(clock);
  final LockkeeperClient client =
      LockkeeperClient.builder("scripted")
          .channels(address -> server.connect())
          .clock(clock)
          .callbackExecutor(Runnable::run)
          .build();

  @Override
  public void close() {
    // What the client still has to say is answered, so that it need not wait for that.
    server.script(ScriptedServer::keepAlive);
    clock.advance(Duration.ofSeconds(5));
    client.close();
    server.close();
  }
}
