package io.lockkeeper.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lockkeeper.client.LockMode;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.testing.InMemoryLockkeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.PriorityOrdered;

/** Which beans get locks around their methods. */
class LockedBeanPostProcessorTest {

  private final InMemoryLockkeeper server = InMemoryLockkeeper.start();
  private final AnnotationConfigApplicationContext context =
      new AnnotationConfigApplicationContext();

  @AfterEach
  void stop() {
    context.close();
    server.close();
  }

  private void start(Class<?>... beans) {
    context.registerBean(LockkeeperClient.class, () -> server.clientBuilder().build());
    context.register(LockedBeanPostProcessor.class);
    context.register(beans);
    context.refresh();
  }

  /** What callers see of a till. */
  interface Till {
    long open();
  }

  /** One for each who asks. */
  @Scope(BeanDefinition.SCOPE_PROTOTYPE)
  static class PrototypeTill implements Till {
    @Locked("tills/prototype")
    @Override
    public long open() {
      return CurrentLock.fencingToken();
    }
  }

  @Test
  void eachInstanceOfAPrototypeIsLocked() {
    // Given
    start(PrototypeTill.class);
    // When
    PrototypeTill first = context.getBean(PrototypeTill.class);
    PrototypeTill second = context.getBean(PrototypeTill.class);
    // Then
    assertThat(second).isNotSameAs(first);
    assertThat(first.open()).isPositive();
    assertThat(second.open()).isPositive();
  }

  /** One for each call, behind a proxy; a second lock around the first would wait for it. */
  @Scope(scopeName = BeanDefinition.SCOPE_PROTOTYPE, proxyMode = ScopedProxyMode.TARGET_CLASS)
  static class ScopedTill {
    @Locked(value = "tills/scoped", mode = LockMode.PERMITS, limit = 1, waitAtMost = "0s")
    public long open() {
      return CurrentLock.fencingToken();
    }
  }

  @Test
  void scopedBeanTakesItsLockOnce() {
    // Given
    start(ScopedTill.class);
    // When
    ScopedTill till = context.getBean(ScopedTill.class);
    // Then
    assertThat(till.open()).isPositive();
    assertThat(till.open()).isPositive();
  }

  /** Needs no subclass where something has made a proxy of its interface. */
  static final class FinalTill implements Till {
    @Locked("tills/final")
    @Override
    public long open() {
      return CurrentLock.fencingToken();
    }
  }

  /** Proxies tills by their interface, as Spring does with spring.aop.proxy-target-class=false. */
  static class Proxying implements BeanPostProcessor, PriorityOrdered {
    @Override
    public int getOrder() {
      return 0; // Before the locks, as Spring's own.
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
      if (!(bean instanceof Till)) {
        return bean;
      }
      ProxyFactory proxy = new ProxyFactory(bean);
      proxy.setProxyTargetClass(false);
      proxy.addAdvisor(new NameMatchMethodPointcutAdvisor());
      return proxy.getProxy();
    }
  }

  @Test
  void beanThatIsProxiedByItsInterfaceIsLockedInThatProxy() {
    // Given
    start(Proxying.class, FinalTill.class);
    // When
    Till till = context.getBean(Till.class);
    // Then
    assertThat(AopUtils.isJdkDynamicProxy(till)).isTrue();
    assertThat(till.open()).isPositive();
  }

  /** Cannot be extended by a proxy that nobody has permitted. */
  static sealed class SealedTill permits NightTill {
    @Locked("tills/sealed")
    public long open() {
      return CurrentLock.fencingToken();
    }
  }

  /** The one that may. */
  static final class NightTill extends SealedTill {}

  @ParameterizedTest
  @ValueSource(classes = {FinalTill.class, SealedTill.class})
  void classThatNoProxyCanExtendIsRefusedByItsName(Class<?> till) {
    assertThatThrownBy(() -> start(till))
        .rootCause()
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(till.getName())
        .hasMessageContaining("final or sealed")
        .hasMessageContaining("make the class neither");
  }
}
