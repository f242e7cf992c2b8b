package io.lockkeeper.spring;

import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LockkeeperException;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.NotAcquiredReason;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes the lock around each call of a {@link Locked} method. */
final class LockedInterceptor implements MethodInterceptor {

  private static final Logger LOG = LoggerFactory.getLogger(LockedInterceptor.class);

  private final Supplier<LockkeeperClient> client;
  private final Function<MethodInvocation, LockedMethod> methods;

  /** Makes one that asks for the client at the first call, not while beans are being made. */
  LockedInterceptor(
      Supplier<LockkeeperClient> client, Function<MethodInvocation, LockedMethod> methods) {
    this.client = client;
    this.methods = methods;
  }

  /** What became of one call. */
  private static final class Outcome {
    private boolean entered;
    private @Nullable Object result;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation call) throws Throwable {
    LockedMethod method = methods.apply(call);
    Outcome outcome = new Outcome();
    try {
      client
          .get()
          .runWithLock(
              method.request(Objects.requireNonNull(call.getThis()), call.getArguments()),
              lock -> {
                proceed(call, lock, outcome);
                method.requireDone(outcome.result);
              });
    } catch (NotAcquiredException e) {
      if (!outcome.entered && method.skipsIfTaken() && e.reason() == NotAcquiredReason.TIMED_OUT) {
        LOG.atDebug().addKeyValue("method", method).log("Skipped: {}", e.getMessage());
        return null;
      }
      throw e;
    } catch (InterruptedException e) {
      if (outcome.entered || method.declaresInterrupt()) {
        throw e;
      }
      Thread.currentThread().interrupt();
      throw new LockkeeperException(method + ": interrupted while waiting: " + e.getMessage(), e);
    }
    return outcome.result;
  }

  private static void proceed(MethodInvocation call, LockHandle lock, Outcome outcome)
      throws Exception {
    outcome.entered = true;
    CurrentLock.enter(lock);
    try {
      outcome.result = call.proceed();
    } catch (Exception | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new UndeclaredThrowableException(e);
    } finally {
      CurrentLock.leave();
    }
  }
}
