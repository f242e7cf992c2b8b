package io.lockkeeper.integration.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Polyglot;
import io.lockkeeper.integration.harness.Polyglot.Running;
import io.lockkeeper.integration.harness.Rig;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The web page in a browser. Each check fails besides when the page complains on the console,
 * breaks its own policy of content, or asks anybody but the coordinator; see {@code page/page.mjs}.
 */
final class PageIT {

  private final Rig rig = Rig.shared();

  @BeforeEach
  void assumeThereIsABrowser() {
    Polyglot.PAGE.assumeInstalled();
  }

  private void check(String name) {
    // When
    try (Running check = Polyglot.PAGE.start("http://127.0.0.1:" + rig.server().httpPort(), name)) {
      // Then
      assertThat(check.awaitExit()).as(check::said).isZero();
    }
  }

  @Test
  void everyViewHasAnAddressAndATitleAndBackLeadsBack() {
    check("deep-links");
  }

  @Test
  void locksAndOneLockFollowWhatHappensWithoutAReload() {
    check("live");
  }

  @Test
  void locksAreFilteredByHowTheirNamesBeginAndSorted() {
    check("filter");
  }

  @Test
  void onlyTheRowsThatCanBeSeenAreInTheDocument() {
    check("many");
  }

  @Test
  void forcedReleaseNamesLockAndHolderAndWantsAReasonFirst() {
    check("force-release");
  }

  @Test
  void holdersAreAskedToReleaseWithAReason() {
    check("request-release");
  }

  @Test
  void lockIsFrozenAndUnfrozen() {
    check("freeze");
  }

  @Test
  void leaseOfSomebodyElseIsClosedWithAllThatItHolds() {
    check("close-lease");
  }

  @Test
  void namesOfOthersRunNothingAndSteerNothing() {
    check("names");
  }

  @Test
  void nothingIsWiderThanANarrowScreen() {
    check("narrow");
  }

  @Test
  void everythingIsReachedByTheKeyboardAndTheFocusIsNotLost() {
    check("keyboard");
  }

  @Test
  void everyViewIsAccessibleInLightAndDark() {
    check("accessible");
  }

  @Test
  void refusalOfTheServerIsShownBesideWhatIsOnTheScreen() {
    check("refusals");
  }

  @Test
  void whatACallerMayNotDoIsNotOffered() {
    check("rights");
  }

  @Test
  void connectionThatIsLostIsSaidAndComesBack() {
    check("reconnecting");
  }

  @Test
  void clusterIsAskedForOnlyWhereItIsShownByThoseWhoMaySeeIt() {
    check("audit");
  }

  @Test
  void tabsThatNobodySeesLeaveTheirConnectionsToOthersAndComeBackWhenSeen() {
    check("tabs");
  }

  @Test
  void browserWithoutScriptsIsToldWhereTheLocksAre() {
    check("without-scripts");
  }
}
