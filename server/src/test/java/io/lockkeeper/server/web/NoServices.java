package io.lockkeeper.server.web;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.MethodDescriptor;

/** Services that a test must not call. */
final class NoServices extends Channel {

  @Override
  public <Q, R> ClientCall<Q, R> newCall(MethodDescriptor<Q, R> method, CallOptions options) {
    throw new AssertionError("not to be called: " + method.getFullMethodName());
  }

  @Override
  public String authority() {
    return "none";
  }
}
