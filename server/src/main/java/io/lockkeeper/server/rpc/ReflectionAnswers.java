package io.lockkeeper.server.rpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/**
 * Completes what reflection hands out, for tools such as grpcurl: the JSON names of fields, which
 * code generated for Java leaves out, so that they print {@code fencingToken} and not {@code
 * fencing_token}; and google.rpc's error details, which no service names, since they travel in the
 * trailers.
 */
final class ReflectionAnswers implements ServerInterceptor {

  private static final FileDescriptor ERROR_DETAILS = ErrorInfo.getDescriptor().getFile();

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
    if (answer == null) {
      return response;
    }
    if (!response.hasField(answer)) {
      return isAboutErrorDetails(response) ? withErrorDetails(response, answer) : response;
    }
    Message files = (Message) response.getField(answer);
    FieldDescriptor file = files.getDescriptorForType().findFieldByName("file_descriptor_proto");
    Message.Builder completed = files.toBuilder();
    for (int i = 0; i < files.getRepeatedFieldCount(file); i++) {
      completed.setRepeatedField(file, i, completed((ByteString) files.getRepeatedField(file, i)));
    }
    return response.toBuilder().setField(answer, completed.build()).build();
  }

  /** Returns whether an answer is that nobody knows a file or a symbol of the error details. */
  private static boolean isAboutErrorDetails(Message response) {
    if (!(field(response, "original_request") instanceof Message request)) {
      return false;
    }
    String symbol = String.valueOf(field(request, "file_containing_symbol"));
    return ERROR_DETAILS.getName().equals(field(request, "file_by_filename"))
        || (symbol.startsWith(ERROR_DETAILS.getPackage() + ".")
            && ERROR_DETAILS.findMessageTypeByName(
                    symbol.substring(ERROR_DETAILS.getPackage().length() + 1))
                != null);
  }

  private static Object field(Message message, String name) {
    FieldDescriptor field = message.getDescriptorForType().findFieldByName(name);
    return field == null ? "" : message.getField(field);
  }

  private static Message withErrorDetails(Message response, FieldDescriptor answer) {
    Message.Builder completed = response.toBuilder();
    Message.Builder files = completed.newBuilderForField(answer);
    FieldDescriptor file = files.getDescriptorForType().findFieldByName("file_descriptor_proto");
    files.addRepeatedField(file, completed(ERROR_DETAILS.toProto().toByteString()));
    for (FileDescriptor needed : ERROR_DETAILS.getDependencies()) {
      files.addRepeatedField(file, completed(needed.toProto().toByteString()));
    }
    return completed.setField(answer, files.build()).build();
  }

  /** Returns the descriptor of a file with the JSON name of every field. */
  private static ByteString completed(ByteString file) {
    try {
      FileDescriptorProto.Builder builder = FileDescriptorProto.parseFrom(file).toBuilder();
      builder.getMessageTypeBuilderList().forEach(ReflectionAnswers::complete);
      return builder.build().toByteString();
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalArgumentException("not a file descriptor", e);
    }
  }

  private static void complete(DescriptorProto.Builder message) {
    message.getNestedTypeBuilderList().forEach(ReflectionAnswers::complete);
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
