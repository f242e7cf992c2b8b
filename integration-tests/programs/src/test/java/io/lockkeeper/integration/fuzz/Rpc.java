package io.lockkeeper.integration.fuzz;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServiceDescriptor;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;

/**
 * One rpc, called with bytes instead of messages, so that what is no message can be sent as well.
 *
 * @param call how it is called
 * @param input the type of its requests
 * @param output the type of its responses
 */
record Rpc(io.grpc.MethodDescriptor<byte[], byte[]> call, Descriptor input, Descriptor output) {

  /** Takes bytes for messages. */
  private enum Bytes implements Marshaller<byte[]> {
    AS_THEY_ARE;

    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Returns every rpc of the API, as the descriptors have it. */
  static List<Rpc> all() {
    return List.of(
            LockServiceGrpc.getServiceDescriptor(),
            LeaseServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor())
        .stream()
        .map(ServiceDescriptor::getMethods)
        .flatMap(methods -> methods.stream().map(Rpc::of))
        .toList();
  }

  private static Rpc of(io.grpc.MethodDescriptor<?, ?> method) {
    Object schema = Objects.requireNonNull(method.getSchemaDescriptor());
    MethodDescriptor described = ((ProtoMethodDescriptorSupplier) schema).getMethodDescriptor();
    return new Rpc(
        method.toBuilder(Bytes.AS_THEY_ARE, Bytes.AS_THEY_ARE).build(),
        described.getInputType(),
        described.getOutputType());
  }

  /** Returns whether clients send as many requests in one call as they like. */
  boolean takesMany() {
    return !call.getType().clientSendsOneMessage();
  }

  /** Returns whether a call goes on after its first response. */
  boolean goesOn() {
    return !call.getType().serverSendsOneMessage();
  }

  /** Returns the name of the service and of the rpc. */
  String name() {
    return call.getFullMethodName();
  }
}
