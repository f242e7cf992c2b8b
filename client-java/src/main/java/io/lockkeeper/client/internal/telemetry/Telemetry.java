package io.lockkeeper.client.internal.telemetry;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LossReason;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells observers what becomes of requests. What an observer throws is logged and does no harm: not
 * even that of a library that lacks a class or a method which was there when this was compiled.
 *
 * @param observers who is told
 */
public record Telemetry(List<Observer> observers) {

  /** Tells nobody. */
  public static final Telemetry NONE = new Telemetry(List.of());

  /** The key of the trace context in the metadata of a request. */
  private static final String TRACEPARENT = "traceparent";

  private static final Logger LOG = LoggerFactory.getLogger(Telemetry.class);
  private static final Request UNOBSERVED = new Request(List.of());

  /** Copies the list. */
  public Telemetry {
    observers = List.copyOf(observers);
  }

  /** A request was made. For the thread that made it. */
  public Request onRequested(LockRequest request) {
    if (observers.isEmpty()) {
      return UNOBSERVED;
    }
    return new Request(
        observers.stream().flatMap(observer -> begin(observer, request).stream()).toList());
  }

  private static Optional<Observer.ObservedRequest> begin(Observer observer, LockRequest request) {
    try {
      return Optional.of(observer.onRequested(request));
    } catch (Throwable e) {
      LOG.atWarn().setCause(e).log("Telemetry failed; the client goes on");
      return Optional.empty();
    }
  }

  /** One request. For one thread at a time, each of which sees what the one before has written. */
  public static final class Request {
    private final List<Observer.ObservedRequest> observed;
    private boolean held;

    private Request(List<Observer.ObservedRequest> observed) {
      this.observed = observed;
    }

    /**
     * Returns what is sent for {@code request}: with the trace context in its metadata, for the
     * coordinator and those who wait, if there is one and room for it.
     */
    public LockRequest traced(LockRequest request) {
      if (request.metadata().containsKey(TRACEPARENT)) {
        return request;
      }
      for (Observer.ObservedRequest each : observed) {
        try {
          Optional<String> context = each.traceparent();
          if (context.isPresent()) {
            return request.metadata(TRACEPARENT, context.get());
          }
        } catch (IllegalArgumentException e) {
          // There is no room: tracing is worth less than what the request says of itself.
          return request;
        } catch (Throwable e) {
          LOG.atWarn().setCause(e).log("Telemetry failed; the client goes on");
        }
      }
      return request;
    }

    /** The locks are held. */
    public void onGranted(LockHandle handle) {
      if (!observed.isEmpty()) {
        held = true;
        tell(each -> each.onGranted(handle));
      }
    }

    /** The locks were not granted. */
    public void onNotGranted(Throwable why) {
      tell(each -> each.onNotGranted(Outcome.of(why), why));
    }

    /** The locks are not held any more, if they were. What comes later is ignored. */
    public void onEnded(Optional<LossReason> lost) {
      if (held) {
        held = false;
        tell(each -> each.onEnded(lost));
      }
    }

    private void tell(Consumer<Observer.ObservedRequest> event) {
      for (Observer.ObservedRequest each : observed) {
        try {
          event.accept(each);
        } catch (Throwable e) {
          LOG.atWarn().setCause(e).log("Telemetry failed; the client goes on");
        }
      }
    }
  }
}
