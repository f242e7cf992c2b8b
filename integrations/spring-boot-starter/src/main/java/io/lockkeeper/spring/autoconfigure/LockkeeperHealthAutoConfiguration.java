package io.lockkeeper.spring.autoconfigure;

import io.lockkeeper.client.LockkeeperClient;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Makes the health indicator {@code lockkeeper}: see {@link LockkeeperHealthIndicator}. */
@AutoConfiguration(after = LockkeeperAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnSingleCandidate(LockkeeperClient.class)
@EnableConfigurationProperties(LockkeeperProperties.class)
@ConditionalOnEnabledHealthIndicator("lockkeeper")
public final class LockkeeperHealthAutoConfiguration {

  /** Makes the indicator. */
  @Bean
  @ConditionalOnMissingBean(name = "lockkeeperHealthIndicator")
  LockkeeperHealthIndicator lockkeeperHealthIndicator(
      LockkeeperClient client, LockkeeperProperties properties) {
    return new LockkeeperHealthIndicator(client, properties.health());
  }
}
