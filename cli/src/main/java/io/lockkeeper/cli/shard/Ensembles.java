package io.lockkeeper.cli.shard;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.cli.call.ServerOptions;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.client.internal.transport.Target;
import io.lockkeeper.server.core.shard.Shard;
import io.lockkeeper.server.core.shard.ShardRecord;
import io.lockkeeper.server.core.shard.ShardTable;
import io.lockkeeper.server.rpc.wire.ShardMessages;
import io.lockkeeper.v1.GetShardsRequest;
import io.lockkeeper.v1.GetShardsResponse;
import io.lockkeeper.v1.ListNamespacesRequest;
import io.lockkeeper.v1.ListNamespacesResponse;
import io.lockkeeper.v1.SetShardsRequest;
import io.lockkeeper.v1.ShardServiceGrpc.ShardServiceBlockingStub;
import java.util.List;

/** Asks each shard's coordinators about its ensemble, and has the table written there. */
final class Ensembles {

  private final ServerOptions options;

  Ensembles(ServerOptions options) {
    this.options = options;
  }

  /** Returns who serves a shard. */
  Servers of(Shard shard) {
    return at(shard.addresses());
  }

  private Servers at(List<String> addresses) {
    try {
      return new Servers(options, Target.parseList(String.join(",", addresses)));
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCodes.USAGE, "an address of a shard: " + e.getMessage(), e);
    }
  }

  /** Returns the table as the servers have it that the command line names. */
  Copy named() {
    return copy(new Servers(options));
  }

  /** Returns the table as the servers have it that are there. */
  Copy copy(List<String> addresses) {
    return copy(at(addresses));
  }

  private static Copy copy(Servers servers) {
    GetShardsResponse response = servers.shards(Ensembles::getShards);
    try {
      ShardRecord record = ShardMessages.toRecord(response);
      return new Copy(
          record.self(), record.table(), response.getWrittenAt(), response.getPartial());
    } catch (StatusRuntimeException e) {
      throw new CliException(
          ExitCodes.FAILED, "the server's table is none: " + e.getStatus().getDescription(), e);
    }
  }

  /** Asks once more, a few times, who says that it does not know: the table may be changing. */
  private static GetShardsResponse getShards(ShardServiceBlockingStub stub) {
    for (int attempt = 1; ; attempt++) {
      try {
        return stub.getShards(GetShardsRequest.getDefaultInstance());
      } catch (StatusRuntimeException e) {
        boolean isAnswer = e.getStatus().getCause() == null; // Else nobody listens there.
        if (e.getStatus().getCode() != Code.UNAVAILABLE
            || !isAnswer
            || attempt == TableChanges.ATTEMPTS) {
          throw e;
        }
      }
      TableChanges.pause();
    }
  }

  /** Replaces the table of one ensemble, which has one of a version. */
  void set(List<String> addresses, String self, long expected, ShardTable table) {
    SetShardsRequest request =
        SetShardsRequest.newBuilder()
            .setSelf(self)
            .setExpectedVersion(expected)
            .setTable(ShardMessages.toMessage(table))
            .build();
    var unused = at(addresses).shards(stub -> stub.setShards(request));
  }

  /** Returns what is left of a namespace in a shard's ensemble; of all, where it is empty. */
  ListNamespacesResponse namespaces(List<String> addresses, String namespace) {
    ListNamespacesRequest request =
        ListNamespacesRequest.newBuilder().setNamespace(namespace).build();
    return at(addresses).shards(stub -> stub.listNamespaces(request));
  }
}
