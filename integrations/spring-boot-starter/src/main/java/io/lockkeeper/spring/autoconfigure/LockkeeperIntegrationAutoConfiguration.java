package io.lockkeeper.spring.autoconfigure;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.spring.integration.LockkeeperLockRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.support.locks.LockRegistry;

/** Makes the lock registry of an application with Spring Integration, unless it has one. */
@AutoConfiguration(after = LockkeeperAutoConfiguration.class)
@ConditionalOnClass(LockRegistry.class)
@ConditionalOnSingleCandidate(LockkeeperClient.class)
@EnableConfigurationProperties(LockkeeperProperties.class)
public final class LockkeeperIntegrationAutoConfiguration {

  /** Makes the registry. */
  @Bean
  @ConditionalOnMissingBean(LockRegistry.class)
  LockkeeperLockRegistry lockkeeperLockRegistry(
      LockkeeperClient client, LockkeeperProperties properties) {
    return new LockkeeperLockRegistry(client, properties.integration().prefix());
  }
}
