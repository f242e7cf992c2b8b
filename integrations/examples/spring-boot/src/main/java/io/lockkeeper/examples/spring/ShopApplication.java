package io.lockkeeper.examples.spring;

import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.spring.integration.LockkeeperLeaderInitiator;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.scheduling.annotation.EnableScheduling;

/** Starts an instance of the shop. */
@SpringBootApplication
@EnableScheduling
public class ShopApplication {

  /** The role of the instance that reports, and the name of its lock. */
  static final String REPORTER = "shop/reporter";

  /** Starts it. */
  public static void main(String[] arguments) {
    SpringApplication.run(ShopApplication.class, arguments);
  }

  /** Makes what the instances share. */
  @Bean
  Ledger ledger(@Value("${shop.ledger}") Path directory) {
    return new Ledger(directory);
  }

  /** Stands for election as the one instance that reports. */
  @Bean
  LockkeeperLeaderInitiator reporterElection(LockkeeperClient client) {
    String instance = ManagementFactory.getRuntimeMXBean().getName(); // process@host
    return new LockkeeperLeaderInitiator(client, new DefaultCandidate(instance, REPORTER));
  }
}
