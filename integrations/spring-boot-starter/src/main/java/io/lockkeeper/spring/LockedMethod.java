package io.lockkeeper.spring;

import io.lockkeeper.client.LockMode;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.BaseStream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.scheduling.annotation.Async;

/** One {@link Locked} method: what its annotation says, checked and parsed once. */
final class LockedMethod {

  private static final SpelExpressionParser PARSER = new SpelExpressionParser();

  /** What stands for work that is done after the method has returned it. */
  private static final List<Class<?>> LATE =
      List.of(Future.class, CompletionStage.class, Callable.class, BaseStream.class);

  private static final List<String> LATE_OF_WEB =
      List.of(
          "org.springframework.web.context.request.async.",
          "org.springframework.web.servlet.mvc.method.annotation.");

  private static final ParameterNameDiscoverer PARAMETERS = new DefaultParameterNameDiscoverer();

  private final Method method;
  private final BeanFactory beans;
  private final List<Expression> name;
  private final LockMode mode;
  private final int limit;
  private final Optional<Duration> waitAtMost;
  private final Optional<Duration> maxHold;
  private final boolean skipsIfTaken;

  private LockedMethod(Method method, Locked locked, Class<?> type, ConfigurableBeanFactory beans) {
    this.method = method;
    this.beans = beans;
    this.name = parse(resolve(locked.value(), beans));
    this.mode = locked.mode();
    this.limit = locked.limit();
    this.waitAtMost = duration("waitAtMost", locked.waitAtMost(), beans);
    this.maxHold = duration("maxHold", locked.maxHold(), beans);
    this.skipsIfTaken = locked.ifTaken() == Locked.IfTaken.SKIP;
    requireInterceptable();
    requireDoneWhenReturned(type);
    if (skipsIfTaken && (method.getReturnType() != void.class || waitAtMost.isEmpty())) {
      throw new IllegalArgumentException(
          "ifTaken = SKIP is for methods without a result and with a waitAtMost");
    }
    LockRequest unused = request(name(part -> "x")); // Out of range is so for every value.
  }

  /**
   * Reads and checks an annotation.
   *
   * @param type the class of the bean that has the method
   * @throws IllegalStateException if the method cannot be locked so; the message names it
   */
  static LockedMethod of(
      Method method, Locked locked, Class<?> type, ConfigurableBeanFactory beans) {
    try {
      return new LockedMethod(method, locked, type, beans);
    } catch (IllegalArgumentException | ParseException e) {
      throw new IllegalStateException("@Locked on " + describe(method) + ": " + e.getMessage(), e);
    }
  }

  private static String describe(Method method) {
    return method.getDeclaringClass().getName() + "." + method.getName();
  }

  private static String resolve(String text, ConfigurableBeanFactory beans) {
    String resolved = beans.resolveEmbeddedValue(text);
    return resolved == null ? "" : resolved;
  }

  private static List<Expression> parse(String template) {
    Expression whole = PARSER.parseExpression(template, ParserContext.TEMPLATE_EXPRESSION);
    return whole instanceof CompositeStringExpression parts
        ? Arrays.asList(parts.getExpressions())
        : List.of(whole);
  }

  private static Optional<Duration> duration(
      String attribute, String text, ConfigurableBeanFactory beans) {
    String resolved = resolve(text, beans);
    try {
      return resolved.isEmpty()
          ? Optional.empty()
          : Optional.of(DurationStyle.detectAndParse(resolved));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          attribute + " is a duration such as 500ms or 10s, not \"" + resolved + "\"", e);
    }
  }

  private void requireInterceptable() {
    int modifiers = method.getModifiers();
    if (Modifier.isPrivate(modifiers)
        || Modifier.isFinal(modifiers)
        || Modifier.isStatic(modifiers)) {
      throw new IllegalArgumentException(
          "a private, final or static method cannot be intercepted, and would take no lock: make it"
              + " an instance method that is neither private nor final (in Kotlin: open)");
    }
  }

  private void requireDoneWhenReturned(Class<?> type) {
    if (isLate(method.getReturnType())) {
      throw new IllegalArgumentException(late(method.getReturnType()));
    }
    if (KotlinDetector.isSuspendingFunction(method)) {
      throw new IllegalArgumentException(
          "the lock would be released when the function suspends: use withLock of lockkeeper-kotlin");
    }
    if (AnnotatedElementUtils.hasAnnotation(method, Async.class)
        || AnnotatedElementUtils.hasAnnotation(type, Async.class)) {
      throw new IllegalArgumentException(
          "an @Async method runs after the lock is released: put @Locked on a method that it calls");
    }
  }

  private static boolean isLate(Class<?> result) {
    return LATE.stream().anyMatch(late -> late.isAssignableFrom(result))
        || isLateOfWeb(result)
        || ReactiveAdapterRegistry.getSharedInstance().getAdapter(result) != null;
  }

  /** By its name, since Spring's web may be absent, and of what it extends or implements. */
  private static boolean isLateOfWeb(@Nullable Class<?> result) {
    return result != null
        && (LATE_OF_WEB.stream().anyMatch(result.getName()::startsWith)
            || isLateOfWeb(result.getSuperclass())
            || Arrays.stream(result.getInterfaces()).anyMatch(LockedMethod::isLateOfWeb));
  }

  private static String late(Class<?> result) {
    return "the lock would be released when the method has returned its "
        + result.getSimpleName()
        + ", before the work is done: use LockkeeperClient.acquire";
  }

  /**
   * Checks what a call has returned, where the declared type is {@code Object} or {@code T} and
   * says nothing.
   *
   * @throws IllegalStateException if it stands for work that is done later; the message names the
   *     method
   */
  void requireDone(@Nullable Object result) {
    if (result != null && method.getReturnType() == Object.class && isLate(result.getClass())) {
      throw new IllegalStateException(
          "@Locked on " + describe(method) + ": " + late(result.getClass()));
    }
  }

  /** Returns whether a call that does not get the lock in time returns without having run. */
  boolean skipsIfTaken() {
    return skipsIfTaken;
  }

  /** Returns whether callers must expect an {@link InterruptedException}. */
  boolean declaresInterrupt() {
    return Arrays.stream(method.getExceptionTypes())
        .anyMatch(declared -> declared.isAssignableFrom(InterruptedException.class));
  }

  /**
   * Returns what one call asks for.
   *
   * @throws IllegalArgumentException if the name that its arguments give is none
   */
  LockRequest request(Object target, Object[] arguments) {
    MethodBasedEvaluationContext context =
        new MethodBasedEvaluationContext(new Root(target), method, arguments, PARAMETERS);
    context.setBeanResolver(new BeanFactoryResolver(beans));
    return request(name(part -> value(part, context)));
  }

  private String name(Function<Expression, String> values) {
    StringBuilder text = new StringBuilder();
    for (Expression part : name) {
      text.append(
          part instanceof LiteralExpression ? part.getExpressionString() : values.apply(part));
    }
    return text.toString();
  }

  private String value(Expression part, MethodBasedEvaluationContext context) {
    String text;
    try {
      text = part.getValue(context, String.class);
    } catch (EvaluationException e) {
      throw fault(part, "cannot be evaluated: " + e.getMessage(), e);
    }
    if (text == null || text.isEmpty()) {
      String what = text == null ? "null (a parameter's name needs javac's -parameters)" : "empty";
      throw fault(part, "is " + what, null);
    }
    if (text.indexOf('/') >= 0) {
      throw fault(part, "has a slash, which separates segments: \"" + text + "\"", null);
    }
    return text;
  }

  private IllegalArgumentException fault(Expression part, String what, @Nullable Throwable cause) {
    return new IllegalArgumentException(
        "@Locked on " + describe(method) + ": #{" + part.getExpressionString() + "} " + what,
        cause);
  }

  private LockRequest request(String lock) {
    LockSpec spec =
        switch (mode) {
          case EXCLUSIVE -> LockSpec.exclusive(lock);
          case READ -> LockSpec.read(lock);
          case WRITE -> LockSpec.write(lock);
          case PERMITS -> limit == 0 ? LockSpec.permits(lock, 1) : LockSpec.permits(lock, 1, limit);
          case CUSTOM, UNKNOWN ->
              throw new IllegalArgumentException("mode is not one of @Locked: " + mode);
        };
    if (limit != 0 && mode != LockMode.PERMITS) {
      throw new IllegalArgumentException("limit is for mode PERMITS, not " + mode);
    }
    LockRequest request = LockRequest.of(spec);
    request = waitAtMost.map(request::waitAtMost).orElse(request);
    return maxHold.map(request::maxHold).orElse(request);
  }

  /** What an expression sees besides the parameters. */
  record Root(Object target) {}

  @Override
  public String toString() {
    return "@Locked " + describe(method);
  }
}
