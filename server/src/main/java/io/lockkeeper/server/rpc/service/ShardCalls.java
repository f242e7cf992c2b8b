package io.lockkeeper.server.rpc.service;

import io.grpc.stub.StreamObserver;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.Answers;
import io.lockkeeper.server.rpc.wire.ShardMessages;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.GetShardsRequest;
import io.lockkeeper.v1.GetShardsResponse;
import io.lockkeeper.v1.ListNamespacesRequest;
import io.lockkeeper.v1.ListNamespacesResponse;
import io.lockkeeper.v1.SetShardsRequest;
import io.lockkeeper.v1.SetShardsResponse;
import io.lockkeeper.v1.ShardServiceGrpc;
import java.util.Map;
import java.util.Optional;

/** The shard service: each method checks, asks the coordinator and translates. */
public final class ShardCalls extends ShardServiceGrpc.ShardServiceImplBase {

  private final Coordinator coordinator;

  public ShardCalls(Coordinator coordinator) {
    this.coordinator = coordinator;
  }

  @Override
  public void getShards(GetShardsRequest request, StreamObserver<GetShardsResponse> responses) {
    Access access = Access.requesting();
    Answers.unary(
        coordinator.shards(),
        view -> ShardMessages.toResponse(view, access::permitsSome),
        responses);
  }

  @Override
  public void setShards(SetShardsRequest request, StreamObserver<SetShardsResponse> responses) {
    Access access = Access.current();
    ShardMessages.Change change = access.auditedRequest(() -> ShardMessages.toChange(request));
    Map<String, String> details =
        Map.of("version", Long.toString(change.record().table().version()));
    access.requireAuditedRate(details);
    access.requireAll(Right.ADMIN, "");
    Answers.unary(
        access.audited(details, coordinator.setShards(change.expectedVersion(), change.record())),
        set -> SetShardsResponse.newBuilder().setWrittenAt(set.zxid()).build(),
        responses);
  }

  @Override
  public void listNamespaces(
      ListNamespacesRequest request, StreamObserver<ListNamespacesResponse> responses) {
    Access access = Access.current();
    Optional<String> namespace = access.auditedRequest(() -> ShardMessages.toNamespace(request));
    Map<String, String> details = Map.of("namespace", namespace.orElse(""));
    access.requireAuditedRate(details);
    access.requireAll(Right.ADMIN, "");
    Answers.unary(
        access.audited(details, coordinator.listNamespaces(namespace)),
        ShardMessages::toResponse,
        responses);
  }
}
