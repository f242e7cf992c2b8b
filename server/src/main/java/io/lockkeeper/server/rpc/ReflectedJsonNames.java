package io.lockkeeper.server.rpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/**
 * Completes the descriptors that reflection hands out with the JSON names of fields. Code generated
 * for Java leaves them out, and tools such as grpcurl then print {@code fencing_token} instead of
 * {@code fencingToken}.
 */
final class ReflectedJsonNames implements ServerInterceptor {

  @Override
  public <Q, T> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, T> call, Metadata headers, ServerCallHandler<Q, T> next) {
    return next.startCall(new Completing<>(call), headers);
  }

  private static final class Completing<Q, T> extends SimpleForwardingServerCall<Q, T> {

    Completing(ServerCall<Q, T> call) {
      super(call);
    }

    // A message is replaced by one of the same type.
    @Override
    @SuppressWarnings("unchecked")
    public void sendMessage(T message) {
      super.sendMessage(message instanceof Message response ? (T) completed(response) : message);
    }
  }

  // By the names of the fields: the two versions of reflection have classes of their own.
  private static Message completed(Message response) {
    FieldDescriptor answer =
        response.getDescriptorForType().findFieldByName("file_descriptor_response");
    if (answer == null || !response.hasField(answer)) {
      return response;
    }
    Message files = (Message) response.getField(answer);
    FieldDescriptor file = files.getDescriptorForType().findFieldByName("file_descriptor_proto");
    Message.Builder completed = files.toBuilder();
    for (int i = 0; i < files.getRepeatedFieldCount(file); i++) {
      completed.setRepeatedField(file, i, completed((ByteString) files.getRepeatedField(file, i)));
    }
    return response.toBuilder().setField(answer, completed.build()).build();
  }

  /** Returns the descriptor of a file with the JSON name of every field. */
  private static ByteString completed(ByteString file) {
    try {
      FileDescriptorProto.Builder builder = FileDescriptorProto.parseFrom(file).toBuilder();
      builder.getMessageTypeBuilderList().forEach(ReflectedJsonNames::complete);
      return builder.build().toByteString();
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalArgumentException("not a file descriptor", e);
    }
  }

  private static void complete(DescriptorProto.Builder message) {
    message.getNestedTypeBuilderList().forEach(ReflectedJsonNames::complete);
    for (FieldDescriptorProto.Builder field : message.getFieldBuilderList()) {
      if (!field.hasJsonName()) {
        field.setJsonName(toJsonName(field.getName()));
      }
    }
  }

  private static String toJsonName(String fieldName) {
    StringBuilder name = new StringBuilder();
    boolean upper = false;
    for (int i = 0; i < fieldName.length(); i++) {
      char c = fieldName.charAt(i);
      if (c == '_') {
        upper = true;
      } else {
        name.append(upper ? Character.toUpperCase(c) : c);
        upper = false;
      }
    }
    return name.toString();
  }
}
