package io.lockkeeper.integration.harness;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.MethodDescriptor;
import java.util.concurrent.TimeUnit;

/** A channel each of whose calls has a deadline. */
public final class DeadlineChannel extends Channel {

  private final Channel channel;
  private final long millis;

  /** Gives every call of {@code channel} so much time. */
  public DeadlineChannel(Channel channel, long millis) {
    this.channel = channel;
    this.millis = millis;
  }

  @Override
  public <Q, T> ClientCall<Q, T> newCall(MethodDescriptor<Q, T> method, CallOptions options) {
    return channel.newCall(method, options.withDeadlineAfter(millis, TimeUnit.MILLISECONDS));
  }

  @Override
  public String authority() {
    return channel.authority();
  }
}
