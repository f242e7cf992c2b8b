package io.lockkeeper.bench.lockkeeper;

import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

/** Calls, each of which begins when another one has ended. */
final class CallFlood implements Attack {

  private final int atOnce;
  private final Call call;
  private final LongAdder ended;
  private volatile boolean stopped;

  /** A call that can be made again and again. */
  @FunctionalInterface
  interface Call {
    /** Makes the {@code number}-th of those at once; {@code line} is told what comes of it. */
    void make(int number, Line line);
  }

  /**
   * Will make calls.
   *
   * @param ended counts those that have ended
   */
  CallFlood(int atOnce, Call call, LongAdder ended) {
    this.atOnce = atOnce;
    this.call = call;
    this.ended = ended;
  }

  @Override
  public void begin() {
    for (int i = 0; i < atOnce; i++) {
      new Line(i).next();
    }
  }

  @Override
  public void end() {
    stopped = true;
  }

  /** One of the calls that are open at a time. */
  final class Line {
    private final int number;

    private Line(int number) {
      this.number = number;
    }

    private void next() {
      if (!stopped) {
        call.make(number, this);
      }
    }

    /** Returns what goes on when the call has ended, however it did. */
    <Q, R> ClientResponseObserver<Q, R> untilEnd() {
      return until(answer -> false);
    }

    /** Returns the same, for a call that is ended at an answer of that kind. */
    <Q, R> ClientResponseObserver<Q, R> until(Predicate<R> last) {
      return new ClientResponseObserver<>() {
        private Optional<ClientCallStreamObserver<Q>> stream = Optional.empty();

        @Override
        public void beforeStart(ClientCallStreamObserver<Q> started) {
          stream = Optional.of(started);
        }

        @Override
        public void onNext(R answer) {
          if (stopped || last.test(answer)) {
            stream.ifPresent(open -> open.cancel("heard enough", null));
          }
        }

        @Override
        public void onError(Throwable failure) {
          onCompleted();
        }

        @Override
        public void onCompleted() {
          ended.increment();
          next();
        }
      };
    }
  }
}
