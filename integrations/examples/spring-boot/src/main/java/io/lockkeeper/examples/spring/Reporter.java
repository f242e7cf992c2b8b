package io.lockkeeper.examples.spring;

import io.lockkeeper.spring.integration.LeaderContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.event.EventListener;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.leader.event.OnRevokedEvent;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Reports while this instance is the elected one. */
@Component
public class Reporter {

  private static final Logger LOG = LoggerFactory.getLogger(Reporter.class);

  private volatile @Nullable LeaderContext term;

  /** Begins. */
  @EventListener
  public void on(OnGrantedEvent event) {
    if (!event.getRole().equals(ShopApplication.REPORTER)) {
      return;
    }
    LeaderContext granted = (LeaderContext) event.getContext();
    term = granted;
    LOG.info("Reporting with token {}", granted.fencingToken());
  }

  /** Ends. */
  @EventListener
  public void on(OnRevokedEvent event) {
    if (!event.getRole().equals(ShopApplication.REPORTER)) {
      return;
    }
    term = null;
    LOG.info("Reporting no more");
  }

  /** Returns whether this instance may report now: asked anew before each report. */
  public boolean isLeader() {
    LeaderContext now = term;
    return now != null && now.isLeader();
  }

  /** Reports. */
  @Scheduled(fixedDelayString = "5s")
  public void report() {
    if (isLeader()) {
      LOG.info("The report");
    }
  }
}
