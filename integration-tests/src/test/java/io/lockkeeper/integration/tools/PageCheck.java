package io.lockkeeper.integration.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Polyglot;
import io.lockkeeper.integration.harness.Polyglot.Running;
import io.lockkeeper.integration.harness.Rig;

/** The checks of {@code page/page.mjs}: the web page in a browser. */
final class PageCheck {

  private PageCheck() {}

  /**
   * Runs a check, or skips the test if there is no browser. A check also fails when the page
   * complains on the console, breaks its content security policy, or asks anybody but the
   * coordinator.
   */
  static void run(String name) {
    Polyglot.PAGE.assumeInstalled();
    String address = "http://127.0.0.1:" + Rig.shared().server().httpPort();
    try (Running check = Polyglot.PAGE.start(address, name)) {
      assertThat(check.awaitExit()).as(check::said).isZero();
    }
  }
}
