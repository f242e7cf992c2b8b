package io.lockkeeper.spring;

import io.lockkeeper.client.LockkeeperClient;
import java.io.Serial;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
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

  private final transient Map<Method, LockedMethod> methods = new ConcurrentHashMap<>();

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
    if (AnnotationUtils.isCandidateClass(type, Locked.class)) {
      MethodIntrospector.selectMethods(
              type,
              (Method method) -> AnnotatedElementUtils.findMergedAnnotation(method, Locked.class))
          .forEach((method, locked) -> methods.put(method, read(method, locked)));
    }
    return super.postProcessAfterInitialization(bean, beanName);
  }

  private LockedMethod called(MethodInvocation call) {
    Class<?> type = AopUtils.getTargetClass(Objects.requireNonNull(call.getThis()));
    Method specific = AopUtils.getMostSpecificMethod(call.getMethod(), type);
    return methods.computeIfAbsent(
        specific,
        method ->
            read(
                method,
                Objects.requireNonNull(
                    AnnotatedElementUtils.findMergedAnnotation(method, Locked.class))));
  }

  private LockedMethod read(Method method, Locked locked) {
    return LockedMethod.of(method, locked, Objects.requireNonNull(beanFactory));
  }
}
