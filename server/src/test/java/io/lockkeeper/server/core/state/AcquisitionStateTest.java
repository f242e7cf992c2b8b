package io.lockkeeper.server.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.LeaseId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The whole state machine as a table: every state, every event, what follows. */
class AcquisitionStateTest {

  private static final Map<String, AcquisitionEvent> EVENTS = events();
  private static final Notice TIMED_OUT =
      new Notice.NotAcquired(Notice.RefusalReason.TIMED_OUT, "");

  /**
   * One row for each state and event that do something; every other cell is "stays as it is". In
   * parentheses: the ending that the client is told when the entries are gone.
   */
  private static final List<String> MOVES =
      List.of(
          "ENQUEUING + Created      -> QUEUED    :",
          "ENQUEUING + Admitted     -> HELD      : GRANTED",
          "ENQUEUING + Refused      -> ENDED     : refuse, answer WITHDRAWN",
          "ENQUEUING + WaitExpired  -> CANCELLED(TIMED_OUT) :",
          "ENQUEUING + ReleaseAsked -> CANCELLED(WITHDRAWN) :",
          "ENQUEUING + LeaseEnded   -> CANCELLED : LEASE_ENDED",
          "ENQUEUING + BoundLost    -> CANCELLED : SESSION_LOST",
          "ENQUEUING + SessionGone  -> ENDED     : SESSION_LOST, answer ALREADY_RELEASED",
          "ENQUEUING + Removed      -> CANCELLED : REMOVED",
          "QUEUED    + Placed       -> QUEUED    : QUEUED",
          "QUEUED    + Admitted     -> HELD      : GRANTED",
          "QUEUED    + WaitExpired  -> LEAVING(TIMED_OUT) : delete",
          "QUEUED    + ReleaseAsked -> LEAVING(WITHDRAWN) : delete",
          "QUEUED    + LeaseEnded   -> LEAVING   : LEASE_ENDED, delete",
          "QUEUED    + BoundLost    -> LEAVING   : SESSION_LOST, delete",
          "QUEUED    + SessionGone  -> ENDED     : SESSION_LOST, answer ALREADY_RELEASED",
          "QUEUED    + Removed      -> LEAVING   : REMOVED, delete",
          "HELD      + ReleaseAsked -> RELEASING : delete",
          "HELD      + LeaseEnded   -> LEAVING   : LOST LEASE_EXPIRED, delete",
          "HELD      + BoundLost    -> LEAVING   : LOST SESSION_LOST, delete",
          "HELD      + SessionGone  -> ENDED     : LOST SESSION_LOST, answer ALREADY_RELEASED",
          "HELD      + Removed      -> LEAVING   : LOST REMOVED, delete",
          "ENQUEUING + TakenAway    -> CANCELLED : LOST FORCED",
          "QUEUED    + TakenAway    -> LEAVING   : LOST FORCED, delete",
          "HELD      + TakenAway    -> LEAVING   : LOST FORCED, delete",
          "RELEASING + SessionGone  -> ENDED     : RELEASED, answer RELEASED",
          "RELEASING + Deleted      -> ENDED     : RELEASED, answer RELEASED",
          "LEAVING   + SessionGone  -> ENDED     : answer RELEASED",
          "LEAVING   + Deleted      -> ENDED     : answer RELEASED",
          "CANCELLED + Created      -> LEAVING   : delete",
          "CANCELLED + Refused      -> ENDED     : answer RELEASED",
          "CANCELLED + SessionGone  -> ENDED     : answer RELEASED",
          "LEAVING(TIMED_OUT)   + Deleted     -> ENDED : TIMED_OUT, answer RELEASED",
          "LEAVING(TIMED_OUT)   + LeaseEnded  -> LEAVING : LEASE_ENDED",
          "LEAVING(TIMED_OUT)   + BoundLost   -> LEAVING : SESSION_LOST",
          "LEAVING(TIMED_OUT)   + SessionGone -> ENDED : SESSION_LOST, answer RELEASED",
          "LEAVING(TIMED_OUT)   + TakenAway   -> LEAVING(LOST FORCED) :",
          "CANCELLED(TIMED_OUT) + Created     -> LEAVING(TIMED_OUT) : delete",
          "CANCELLED(TIMED_OUT) + Refused     -> ENDED : TIMED_OUT, answer RELEASED",
          "CANCELLED(TIMED_OUT) + LeaseEnded  -> CANCELLED : LEASE_ENDED",
          "CANCELLED(TIMED_OUT) + BoundLost   -> CANCELLED : SESSION_LOST",
          "CANCELLED(TIMED_OUT) + SessionGone -> ENDED : SESSION_LOST, answer RELEASED",
          "CANCELLED(TIMED_OUT) + TakenAway   -> CANCELLED(LOST FORCED) :",
          "ENDED     + ReleaseAsked -> ENDED     : answer ALREADY_RELEASED");

  @TestFactory
  Stream<DynamicTest> everyStateTimesEveryEvent() {
    Map<String, String> table = table();
    List<DynamicTest> cells = new ArrayList<>();
    for (AcquisitionState state : states()) {
      EVENTS.forEach(
          (name, event) -> {
            String cell = text(state) + " + " + name;
            String expected = table.getOrDefault(cell, text(state) + " :");
            cells.add(
                DynamicTest.dynamicTest(
                    cell, () -> assertThat(taken(state, event)).isEqualTo(expected)));
          });
    }
    assertThat(cells).hasSize(9 * 12);
    return cells.stream();
  }

  @Test
  void theTableHasARowForEveryMoveAndNoOther() {
    // When
    Set<String> moving = new TreeSet<>();
    for (AcquisitionState state : states()) {
      EVENTS.forEach(
          (name, event) -> {
            AcquisitionState.Transition transition = state.on(event);
            if (!transition.next().equals(state) || !transition.actions().isEmpty()) {
              moving.add(text(state) + " + " + name);
            }
          });
    }
    // Then
    assertThat(table().keySet()).containsExactlyInAnyOrderElementsOf(moving).hasSize(MOVES.size());
  }

  @Test
  void everyKindOfEventIsInTheTable() {
    assertThat(EVENTS.values().stream().map(Object::getClass).map(Class::getSimpleName))
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(AcquisitionEvent.class.getPermittedSubclasses())
                .map(Class::getSimpleName)
                .toList());
  }

  @Test
  void everyStateIsReachedFromTheBeginningAndEveryOneEnds() {
    // Given: the moves of the table as a graph
    Set<String> reached = new TreeSet<>(Set.of("ENQUEUING"));
    Set<String> ending = new TreeSet<>(Set.of("ENDED"));
    // When
    for (int i = 0; i < MOVES.size(); i++) {
      for (String move : MOVES) {
        String from = move.split("\\+", -1)[0].strip();
        String to = move.split("->", -1)[1].split(":", -1)[0].strip();
        // Which ending it is makes no difference to what follows.
        to = to.replaceAll("\\(.*", "(TIMED_OUT)");
        if (reached.contains(from)) {
          reached.add(to);
        }
        if (ending.contains(to)) {
          ending.add(from);
        }
      }
    }
    // Then
    List<String> all = states().stream().map(AcquisitionStateTest::text).toList();
    assertThat(reached).containsExactlyInAnyOrderElementsOf(all);
    assertThat(ending).containsExactlyInAnyOrderElementsOf(all);
  }

  @Test
  void releaseOfWhatWasWithdrawnLostOrReleasedIsToldWhichItWas() {
    assertThat(outcome(EVENTS.get("Created"), EVENTS.get("ReleaseAsked"), EVENTS.get("Deleted")))
        .contains("answer WITHDRAWN");
    assertThat(outcome(EVENTS.get("ReleaseAsked"), EVENTS.get("Created"), EVENTS.get("Deleted")))
        .contains("answer WITHDRAWN");
    assertThat(outcome(EVENTS.get("Created"), EVENTS.get("WaitExpired"), EVENTS.get("Deleted")))
        .contains("answer ALREADY_RELEASED");
    assertThat(
            outcome(
                EVENTS.get("Created"),
                EVENTS.get("Admitted"),
                EVENTS.get("LeaseEnded"),
                EVENTS.get("Deleted")))
        .contains("answer ALREADY_RELEASED");
    assertThat(
            outcome(
                EVENTS.get("Created"),
                EVENTS.get("Admitted"),
                EVENTS.get("ReleaseAsked"),
                EVENTS.get("Deleted")))
        .contains("RELEASED", "answer RELEASED");
  }

  @Test
  void reasonOfTheLeasesEndIsTheReasonOfTheLoss() {
    for (LeaseEnd end : EnumSet.complementOf(EnumSet.of(LeaseEnd.CANCELLED))) {
      AcquisitionState.Transition lost =
          in(AcquisitionState.State.HELD).on(new AcquisitionEvent.LeaseEnded(end, ""));
      String expected =
          switch (end) {
            case EXPIRED -> "LOST LEASE_EXPIRED";
            case CLOSED -> "LOST LEASE_CLOSED";
            case BROKEN -> "LOST STREAM_BROKEN";
            case COORDINATOR_LEFT -> "LOST COORDINATOR_LEFT";
            case SESSION_LOST -> "LOST SESSION_LOST";
            case FORCED -> "LOST FORCED";
            case CANCELLED -> throw new AssertionError("that is a release");
          };
      assertThat(lost.actions().stream().map(AcquisitionStateTest::text)).contains(expected);
    }
  }

  @Test
  void leaseWhoseCallWasCancelledReleasesWhatItHolds() {
    // When
    AcquisitionState.Transition released =
        in(AcquisitionState.State.HELD).on(new AcquisitionEvent.LeaseEnded(LeaseEnd.CANCELLED, ""));
    // Then
    assertThat(released)
        .isEqualTo(in(AcquisitionState.State.HELD).on(new AcquisitionEvent.ReleaseAsked()));
  }

  private static List<String> outcome(AcquisitionEvent... events) {
    AcquisitionState state = AcquisitionState.enqueuing();
    List<String> last = List.of();
    for (AcquisitionEvent event : events) {
      AcquisitionState.Transition transition = state.on(event);
      state = transition.next();
      last = transition.actions().stream().map(AcquisitionStateTest::text).toList();
    }
    assertThat(state.state()).isEqualTo(AcquisitionState.State.ENDED);
    return last;
  }

  private static String taken(AcquisitionState state, AcquisitionEvent event) {
    AcquisitionState.Transition transition = state.on(event);
    List<String> actions = transition.actions().stream().map(AcquisitionStateTest::text).toList();
    return (text(transition.next()) + " : " + String.join(", ", actions)).strip();
  }

  /** Every state, and those that owe the client its ending. */
  private static List<AcquisitionState> states() {
    List<AcquisitionState> states = new ArrayList<>();
    for (AcquisitionState.State state : AcquisitionState.State.values()) {
      states.add(in(state));
    }
    for (AcquisitionState.State state :
        List.of(AcquisitionState.State.LEAVING, AcquisitionState.State.CANCELLED)) {
      states.add(
          new AcquisitionState(state, Answer.ReleaseOutcome.RELEASED, Optional.of(TIMED_OUT)));
    }
    return states;
  }

  private static String text(AcquisitionState state) {
    return state.state() + state.ending().map(ending -> "(" + text(ending) + ")").orElse("");
  }

  /** An acquisition in the state; those past the grant were held and released. */
  private static AcquisitionState in(AcquisitionState.State state) {
    return state == AcquisitionState.State.ENQUEUING || state == AcquisitionState.State.QUEUED
        ? new AcquisitionState(state, Answer.ReleaseOutcome.WITHDRAWN)
        : new AcquisitionState(state, Answer.ReleaseOutcome.RELEASED);
  }

  private static Map<String, String> table() {
    Map<String, String> table = new LinkedHashMap<>();
    for (String row : MOVES) {
      String[] sides = row.split("->", -1);
      String[] result = sides[1].split(":", -1);
      String actions = result.length > 1 ? result[1].strip() : "";
      table.put(
          sides[0].strip().replaceAll(" +", " "), (result[0].strip() + " : " + actions).strip());
    }
    return table;
  }

  private static String text(AcquisitionState.Action action) {
    if (action instanceof AcquisitionState.Action.Tell tell) {
      return text(tell.notice());
    }
    if (action instanceof AcquisitionState.Action.AnswerReleases answer) {
      return "answer " + answer.outcome();
    }
    return action instanceof AcquisitionState.Action.Delete ? "delete" : "refuse";
  }

  private static String text(Notice notice) {
    if (notice instanceof Notice.NotAcquired ending) {
      return ending.reason().name();
    }
    if (notice instanceof Notice.Lost lost) {
      return "LOST " + lost.reason();
    }
    return notice.getClass().getSimpleName().toUpperCase(java.util.Locale.ROOT);
  }

  private static Map<String, AcquisitionEvent> events() {
    Map<String, AcquisitionEvent> events = new LinkedHashMap<>();
    for (AcquisitionEvent event :
        List.of(
            new AcquisitionEvent.Created(),
            new AcquisitionEvent.Refused("no"),
            new AcquisitionEvent.Placed(new Notice.Queued(List.of())),
            new AcquisitionEvent.Admitted(new Notice.Granted(new LeaseId(1, 2), List.of(), 1)),
            new AcquisitionEvent.WaitExpired(
                new Notice.NotAcquired(Notice.RefusalReason.TIMED_OUT, "")),
            new AcquisitionEvent.ReleaseAsked(),
            new AcquisitionEvent.LeaseEnded(LeaseEnd.EXPIRED, ""),
            new AcquisitionEvent.BoundLost(),
            new AcquisitionEvent.SessionGone(),
            new AcquisitionEvent.Removed(),
            new AcquisitionEvent.TakenAway(new Notice.Lost(Notice.LossReason.FORCED, "")),
            new AcquisitionEvent.Deleted())) {
      events.put(event.getClass().getSimpleName(), event);
    }
    return events;
  }
}
