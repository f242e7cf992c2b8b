package io.lockkeeper.server.web.api;

import com.google.protobuf.Message;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import java.util.Objects;

/**
 * One call of gRPC, as it is reached over HTTP.
 *
 * @param post whether it is a {@code POST} with the request as its body; otherwise a {@code GET}
 * @param path the path; what follows it is {@code pathField}
 * @param pathField the field of the request that the rest of the path is; empty: there is no rest
 * @param call the call
 */
record Route(boolean post, String path, String pathField, MethodDescriptor<?, ?> call) {

  /** Returns whether the answer is a stream of events. */
  boolean streams() {
    return call.getType() == MethodType.SERVER_STREAMING;
  }

  /** Returns an empty request. */
  Message request() {
    return prototype(call.getRequestMarshaller());
  }

  /** Returns an empty response. */
  Message response() {
    return prototype(call.getResponseMarshaller());
  }

  private static Message prototype(MethodDescriptor.Marshaller<?> marshaller) {
    return (Message)
        Objects.requireNonNull(((PrototypeMarshaller<?>) marshaller).getMessagePrototype());
  }
}
