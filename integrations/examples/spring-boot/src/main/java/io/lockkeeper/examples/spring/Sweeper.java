package io.lockkeeper.examples.spring;

import io.lockkeeper.spring.CurrentLock;
import io.lockkeeper.spring.Locked;
import io.lockkeeper.spring.Locked.IfTaken;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Sweeps the shop every few seconds: never two instances at once. */
@Component
public class Sweeper {

  private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);

  /** Sweeps, unless another instance does so now. */
  @Scheduled(fixedDelayString = "2s")
  @Locked(value = "shop/sweep", waitAtMost = "0s", ifTaken = IfTaken.SKIP)
  public void sweep() {
    LOG.info("Sweeping with token {}", CurrentLock.fencingToken());
  }
}
