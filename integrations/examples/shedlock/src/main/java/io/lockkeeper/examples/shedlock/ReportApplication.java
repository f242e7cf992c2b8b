package io.lockkeeper.examples.shedlock;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.shedlock.LockkeeperLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;

/** Start it twice: the two share the runs of {@link ReportJob}. */
@SpringBootApplication(proxyBeanMethods = false)
@EnableScheduling
@EnableSchedulerLock(defaultLockAtMostFor = "10m")
public class ReportApplication {

  /** Runs until it is stopped. */
  public static void main(String[] args) {
    SpringApplication.run(ReportApplication.class, args);
  }

  /** Spring closes it, after the provider. */
  @Bean
  LockkeeperClient lockkeeperClient(@Value("${lockkeeper.servers}") String servers) {
    return LockkeeperClient.builder(servers).holder("report").build();
  }

  @Bean
  LockProvider lockProvider(LockkeeperClient client) {
    return LockkeeperLockProvider.builder(client).interruptWhenOver().build();
  }
}
