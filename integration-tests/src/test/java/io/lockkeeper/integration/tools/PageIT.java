package io.lockkeeper.integration.tools;

import org.junit.jupiter.api.Test;

/** What the web page shows; see {@link PageCheck}. */
final class PageIT {

  @Test
  void everyViewHasAnAddressAndATitleAndBackLeadsBack() {
    PageCheck.run("deep-links");
  }

  @Test
  void locksAndOneLockFollowWhatHappensWithoutAReload() {
    PageCheck.run("live");
  }

  @Test
  void locksAreFilteredByHowTheirNamesBeginAndSorted() {
    PageCheck.run("filter");
  }

  @Test
  void onlyTheRowsThatCanBeSeenAreInTheDocument() {
    PageCheck.run("many");
  }

  @Test
  void namesOfOthersRunNothingAndSteerNothing() {
    PageCheck.run("names");
  }

  @Test
  void nothingIsWiderThanANarrowScreen() {
    PageCheck.run("narrow");
  }

  @Test
  void everythingIsReachedByTheKeyboardAndTheFocusIsNotLost() {
    PageCheck.run("keyboard");
  }

  @Test
  void everyViewIsAccessibleInLightAndDark() {
    PageCheck.run("accessible");
  }

  @Test
  void browserWithoutScriptsIsToldWhereTheLocksAre() {
    PageCheck.run("without-scripts");
  }
}
