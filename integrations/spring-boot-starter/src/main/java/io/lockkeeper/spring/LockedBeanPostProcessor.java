package io.lockkeeper.spring;

import io.lockkeeper.client.LockkeeperClient;
import java.io.Serial;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.expression.AnnotatedElementKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Puts the lock around the {@link Locked} methods of beans, outside of what else is around them: a
 * transaction is committed before its lock is released. Checks their annotations when a bean is
 * made.
 */
public final class LockedBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

  @Serial private static final long serialVersionUID = 1L;

  private final transient Map<AnnotatedElementKey, LockedMethod> methods =
      new ConcurrentHashMap<>();

  /** Whether a class has locked methods: a prototype's is looked at once. */
  private final transient Map<Class<?>, Boolean> classes = new ConcurrentHashMap<>();

  /** Makes one that takes the {@link LockkeeperClient} of the bean factory, at the first call. */
  public LockedBeanPostProcessor() {
    setBeforeExistingAdvisors(true);
    setProxyTargetClass(true);
  }

  @Override
  public void setBeanFactory(BeanFactory beans) {
    super.setBeanFactory(beans);
    ObjectProvider<LockkeeperClient> client = beans.getBeanProvider(LockkeeperClient.class);
    this.advisor =
        new DefaultPointcutAdvisor(
            new AnnotationMatchingPointcut(null, Locked.class, true),
            new LockedInterceptor(client::getObject, this::called));
  }

  /**
   * Proxies a bean with {@link Locked} methods.
   *
   * @throws IllegalStateException if one of them cannot be locked so; the message names it
   */
  @Override
  public Object postProcessAfterInitialization(Object bean, String beanName) {
    Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
    if (classes.computeIfAbsent(type, this::check)) {
      requireProxy(bean, type);
      closeBeforeTheClient(beanName);
    }
    return super.postProcessAfterInitialization(bean, beanName);
  }

  private boolean check(Class<?> type) {
    if (!AnnotationUtils.isCandidateClass(type, Locked.class)) {
      return false;
    }
    Map<Method, Locked> locked =
        MethodIntrospector.selectMethods(
            type,
            (Method method) -> AnnotatedElementUtils.findMergedAnnotation(method, Locked.class));
    if (locked.isEmpty()) {
      return false;
    }
    requireClass(type, locked.keySet());
    locked.forEach((method, annotation) -> read(method, annotation, type));
    return true;
  }

  private static void requireClass(Class<?> type, Set<Method> locked) {
    if (Proxy.isProxyClass(type)) {
      throw new IllegalStateException(
          "@Locked on "
              + locked
              + ": an interface without a class behind it cannot be locked: call it from a method"
              + " that is");
    }
  }

  /** A bean that has a proxy, for instance of its interfaces, gets the locks in that. */
  private static void requireProxy(Object bean, Class<?> type) {
    if (!(bean instanceof Advised) && (Modifier.isFinal(type.getModifiers()) || type.isSealed())) {
      throw new IllegalStateException(
          "@Locked in "
              + type.getName()
              + ": no proxy can extend a final or sealed class, so that its methods would take no"
              + " lock: make the class neither (in Kotlin: open)");
    }
  }

  /** The client is made late, so it would be closed before the beans whose methods it locks. */
  private void closeBeforeTheClient(String beanName) {
    ConfigurableListableBeanFactory beans = Objects.requireNonNull(beanFactory);
    for (String client : beans.getBeanNamesForType(LockkeeperClient.class, true, false)) {
      beans.registerDependentBean(client, beanName);
    }
  }

  private LockedMethod called(MethodInvocation call) {
    Class<?> type = AopUtils.getTargetClass(Objects.requireNonNull(call.getThis()));
    Method specific = AopUtils.getMostSpecificMethod(call.getMethod(), type);
    Locked locked = AnnotatedElementUtils.findMergedAnnotation(specific, Locked.class);
    return read(specific, Objects.requireNonNull(locked), type);
  }

  private LockedMethod read(Method method, Locked locked, Class<?> type) {
    return methods.computeIfAbsent(
        new AnnotatedElementKey(method, type),
        key -> LockedMethod.of(method, locked, type, Objects.requireNonNull(beanFactory)));
  }
}
