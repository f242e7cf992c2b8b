package io.lockkeeper.integration.tools;

import org.junit.jupiter.api.Test;

/** What the web page does, also when the coordinator refuses or is away; see {@link PageCheck}. */
final class PageActionsIT {

  @Test
  void forcedReleaseNamesLockAndHolderAndWantsAReasonFirst() {
    PageCheck.run("force-release");
  }

  @Test
  void holdersAreAskedToReleaseWithAReason() {
    PageCheck.run("request-release");
  }

  @Test
  void lockIsFrozenAndUnfrozen() {
    PageCheck.run("freeze");
  }

  @Test
  void leaseOfSomebodyElseIsClosedWithAllThatItHolds() {
    PageCheck.run("close-lease");
  }

  @Test
  void refusalOfTheServerIsShownBesideWhatIsOnTheScreen() {
    PageCheck.run("refusals");
  }

  @Test
  void whatACallerMayNotDoIsNotOffered() {
    PageCheck.run("rights");
  }

  @Test
  void connectionThatIsLostIsSaidAndComesBack() {
    PageCheck.run("reconnecting");
  }

  @Test
  void clusterIsAskedForOnlyWhereItIsShownByThoseWhoMaySeeIt() {
    PageCheck.run("audit");
  }

  @Test
  void tabsThatNobodySeesLeaveTheirConnectionsToOthersAndComeBackWhenSeen() {
    PageCheck.run("tabs");
  }
}
