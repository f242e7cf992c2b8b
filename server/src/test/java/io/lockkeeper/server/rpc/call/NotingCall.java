package io.lockkeeper.server.rpc.call;

import io.grpc.stub.ServerCallStreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A call that notes what it is given, and whether two threads were in it at once. */
final class NotingCall<T> extends ServerCallStreamObserver<T> {

  final List<T> sent = new ArrayList<>();
  final List<String> ends = new ArrayList<>();
  final AtomicInteger overlaps = new AtomicInteger();
  private final AtomicInteger inside = new AtomicInteger();
  volatile boolean ready = true;
  volatile boolean broken;
  private Runnable onReady = () -> {};
  private Runnable onCancel = () -> {};
  private Runnable onClose = () -> {};

  void becomeReady() {
    ready = true;
    onReady.run();
  }

  void cancel() {
    onCancel.run();
  }

  /** The transport is done with the call, which somebody has ended. */
  void close() {
    onClose.run();
  }

  @Override
  public void onNext(T value) {
    if (broken) {
      throw new IllegalStateException("call is closed");
    }
    if (inside.incrementAndGet() > 1) {
      overlaps.incrementAndGet();
    }
    sent.add(value);
    inside.decrementAndGet();
  }

  @Override
  public void onError(Throwable cause) {
    ends.add(cause.getMessage());
  }

  @Override
  public void onCompleted() {
    ends.add("completed");
  }

  @Override
  public boolean isReady() {
    return ready;
  }

  @Override
  public boolean isCancelled() {
    return false;
  }

  @Override
  public void setOnCancelHandler(Runnable handler) {
    onCancel = handler;
  }

  @Override
  public void setOnCloseHandler(Runnable handler) {
    onClose = handler;
  }

  @Override
  public void setOnReadyHandler(Runnable handler) {
    onReady = handler;
  }

  @Override
  public void setCompression(String compression) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void disableAutoInboundFlowControl() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void request(int count) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void setMessageCompression(boolean enable) {
    throw new UnsupportedOperationException();
  }
}
