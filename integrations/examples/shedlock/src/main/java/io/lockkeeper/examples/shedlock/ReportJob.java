package io.lockkeeper.examples.shedlock;

import io.lockkeeper.shedlock.LockkeeperLockProvider;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Writes a report at every tick, in one of the instances. */
@Component
public class ReportJob {

  /**
   * Ticks come by cron, so that they are the same in all instances. An instance whose clock is late
   * finds the tick done, because the lock is kept for {@code lockAtLeastFor}: longer than clocks
   * differ, shorter than from tick to tick.
   */
  @Scheduled(cron = "${report.cron}")
  @SchedulerLock(name = "report", lockAtMostFor = "1m", lockAtLeastFor = "8s")
  public void write() {
    LockAssert.assertLocked();
    Instant time = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    // What the report is written to refuses any token below the highest that it has seen.
    long token = LockkeeperLockProvider.fencingToken();
    System.out.println("report of " + time + " with fencing token " + token);
  }
}
