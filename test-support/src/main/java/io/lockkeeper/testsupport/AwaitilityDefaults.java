package io.lockkeeper.testsupport;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Raises Awaitility's default timeout from 10 to 60 seconds in every JVM that runs tests. A timeout
 * only limits how long a failing test takes, and a busy machine must not be what makes it fail.
 *
 * <p>JUnit finds this class through {@code META-INF/services}.
 */
public final class AwaitilityDefaults implements LauncherSessionListener {

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    Awaitility.setDefaultTimeout(TIMEOUT);
  }
}
