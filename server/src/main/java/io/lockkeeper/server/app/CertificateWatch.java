package io.lockkeeper.server.app;

import io.lockkeeper.server.security.tls.TlsFiles;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks every few seconds whether the files of TLS are still the same, and shows their age. */
final class CertificateWatch implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(CertificateWatch.class);
  private static final long POLL_SECONDS = 5;

  private final TlsFiles files;
  // One of its own: a file system that hangs must hold up nothing else.
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "lockkeeper-certificates");
            thread.setDaemon(true);
            return thread;
          });

  private CertificateWatch(TlsFiles files) {
    this.files = files;
  }

  /** Begins to look, and adds a gauge for each file. */
  static CertificateWatch start(TlsFiles files, MeterRegistry registry) {
    CertificateWatch watch = new CertificateWatch(files);
    for (String file : files.secondsUntilExpiry().keySet()) {
      Gauge.builder(
              "lockkeeper.certificate.expiry",
              files,
              current -> current.secondsUntilExpiry().getOrDefault(file, 0L))
          .baseUnit("seconds")
          .tag("file", file)
          .description("Time until the first certificate of the file expires")
          .register(registry);
    }
    var unused =
        watch.timer.scheduleWithFixedDelay(
            watch::look, POLL_SECONDS, POLL_SECONDS, TimeUnit.SECONDS);
    return watch;
  }

  private void look() {
    try {
      files.poll();
    } catch (RuntimeException e) {
      log.atError().setCause(e).log("The files of TLS could not be looked at; trying again");
    }
  }

  /** Looks no more. */
  @Override
  public void close() {
    timer.shutdownNow();
  }
}
