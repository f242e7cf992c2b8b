package io.lockkeeper.spring;

import io.lockkeeper.client.LockMode;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a Spring bean while it holds a lock, in all processes of the application.
 *
 * <pre>{@code
 * @Locked("orders/#{#id}")
 * public void ship(String id) {
 *   orders.markShipped(id, CurrentLock.fencingToken());
 * }
 * }</pre>
 *
 * <p>The method waits for the lock, runs in the calling thread, and the lock is released after it:
 * around a transaction of the same method, so that the next holder sees what was committed.
 * Reentrant for its thread, but for permits. When the lock is lost meanwhile, the thread is
 * interrupted, and the caller gets a {@link io.lockkeeper.client.LockLostException}, whatever the
 * method returned, and though its transaction may be committed. {@link CurrentLock} has the fencing
 * token for whatever the method changes, and lets that refuse what comes too late. The lock is
 * outside of whatever else is around the method: check before who may call it.
 *
 * <p>A call that fails to get the lock throws as {@link
 * io.lockkeeper.client.LockkeeperClient#withLock} does; an interrupt while waiting is an {@link
 * InterruptedException} if the method declares that, else a {@link
 * io.lockkeeper.client.LockkeeperException}, and is kept.
 *
 * <p>The bean is a proxy: calls from inside the same object take no lock. A method that a proxy
 * cannot intercept (private, final, static, of a final or sealed class that has no proxy, of an
 * interface without a class), one whose work goes on after it has returned (it returns a future, a
 * stream, a callable or a reactive type), and an annotation with a value out of range make the
 * start of the application fail, with the method's name. Where only the value that a call returns
 * shows such work, not the declared type, that call throws an {@link IllegalStateException}; the
 * work is not stopped.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Locked {

  /**
   * The lock's name: text in which <code>#{...}</code> is an expression in Spring's language, with
   * the method's parameters as variables by name ({@code #id}) and by place ({@code #p0}), the bean
   * as {@code target}, and other beans as {@code @name}; <code>${...}</code> is a property of the
   * application. An expression that gives null or nothing fails the call with an {@link
   * IllegalArgumentException}, and so does a slash in what it gives: a value adds no segment to the
   * name. Let the text before it be the method's own, so that no caller can choose another's lock.
   */
  String value();

  /** How to hold it: exclusively (the default), for reading or for writing, or with one permit. */
  LockMode mode() default LockMode.EXCLUSIVE;

  /**
   * With {@link LockMode#PERMITS}, how many may hold at once, 1 to 1,000,000. Zero, the default: as
   * it is configured on the server.
   */
  int limit() default 0;

  /**
   * How long to wait at most, for instance {@code 500ms}, {@code 10s} or <code>${my.wait}</code>:
   * zero to 7 days. Empty, the default: as long as it takes.
   */
  String waitAtMost() default "";

  /**
   * How long the method may hold the lock, 100 ms to 7 days; then it is lost. Empty, the default:
   * no limit.
   */
  String maxHold() default "";

  /** What happens when {@link #waitAtMost} has run out. */
  IfTaken ifTaken() default IfTaken.FAIL;

  /** What becomes of a call that did not get the lock in time. */
  enum IfTaken {
    /** It throws a {@link io.lockkeeper.client.NotAcquiredException}. */
    FAIL,
    /** It returns, without having run the method, which must have no result. */
    SKIP
  }
}
