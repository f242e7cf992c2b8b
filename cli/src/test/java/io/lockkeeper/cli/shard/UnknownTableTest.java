package io.lockkeeper.cli.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.cli.Cli;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.v1.GetShardsRequest;
import io.lockkeeper.v1.GetShardsResponse;
import io.lockkeeper.v1.ShardServiceGrpc;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** While somebody changes the table, its servers do not know for a moment what it says. */
class UnknownTableTest {

  private final AtomicInteger asked = new AtomicInteger();

  @AutoClose("shutdownNow")
  private Server server;

  /** Starts a service of one ensemble that knows only after so many questions. */
  private Cli moveAfter(int questions) throws IOException {
    server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(
                new ShardServiceGrpc.ShardServiceImplBase() {
                  @Override
                  public void getShards(
                      GetShardsRequest request, StreamObserver<GetShardsResponse> response) {
                    if (asked.incrementAndGet() <= questions) {
                      response.onError(
                          Status.UNAVAILABLE.withDescription("it changes").asRuntimeException());
                      return;
                    }
                    response.onNext(GetShardsResponse.getDefaultInstance());
                    response.onCompleted();
                  }
                })
            .build()
            .start();
    return Cli.run("shards", "move", "n", "b", "--server", "localhost:" + server.getPort());
  }

  @Test
  void isAskedForOnceMore() throws IOException {
    // When
    Cli result = moveAfter(2);
    // Then
    assertThat(result.err()).contains("there are no shards");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.FAILED);
  }

  @Test
  void isNotAskedForWithoutEnd() throws IOException {
    // When
    Cli result = moveAfter(Integer.MAX_VALUE);
    // Then
    assertThat(result.err()).contains("it changes");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.UNAVAILABLE);
    assertThat(asked).hasValue(TableChanges.ATTEMPTS);
  }
}
