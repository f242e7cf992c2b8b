package io.lockkeeper.server.zookeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CheckResult;
import org.apache.zookeeper.OpResult.DeleteResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class MultiReplyTest {

  private static final int OK = Code.OK.intValue();

  @Test
  void allDoneIsCommitted() {
    // Given
    List<OpResult> results = List.of(new CheckResult(), new DeleteResult());
    // When
    MultiReply reply = MultiReply.of(OK, results, 2);
    // Then
    assertThat(reply).isEqualTo(new MultiReply.Committed(results));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4})
  void failureNamesItsCulpritAndNothingBeforeItWasDone(int index) {
    // Given
    List<OpResult> results = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      Code code = i < index ? Code.OK : i == index ? Code.NONODE : Code.RUNTIMEINCONSISTENCY;
      results.add(new ErrorResult(code.intValue()));
    }
    // When
    MultiReply reply = MultiReply.of(Code.NONODE.intValue(), results, 5);
    // Then
    assertThat(reply).isEqualTo(new MultiReply.Culprit(index, Code.NONODE.intValue()));
  }

  @Test
  void lostConnectionWithoutAnyResultIsInDoubt() {
    // When
    int lost = Code.CONNECTIONLOSS.intValue();
    // Then
    assertThat(MultiReply.of(lost, null, 3))
        .isEqualTo(new MultiReply.Whole(ResultCode.IN_DOUBT, lost));
    assertThat(MultiReply.of(lost, List.of(), 3))
        .isEqualTo(new MultiReply.Whole(ResultCode.IN_DOUBT, lost));
  }

  @Test
  void emptyResultsOfALocalRefusalBlameNobody() {
    // When
    MultiReply reply = MultiReply.of(Code.BADARGUMENTS.intValue(), List.of(), 3);
    // Then
    assertThat(reply)
        .isEqualTo(new MultiReply.Whole(ResultCode.REFUSED, Code.BADARGUMENTS.intValue()));
  }

  @Test
  void successThatDoesNotFitTheQuestionProvesNothing() {
    // When
    MultiReply none = MultiReply.of(OK, null, 2);
    MultiReply fewer = MultiReply.of(OK, List.of(new CheckResult()), 2);
    // Then
    assertThat(none).isEqualTo(new MultiReply.Whole(ResultCode.IN_DOUBT, OK));
    assertThat(fewer).isEqualTo(new MultiReply.Whole(ResultCode.IN_DOUBT, OK));
  }

  @ParameterizedTest
  @EnumSource(Code.class)
  void everyCodeHasAVerdict(Code code) {
    // When
    ResultCode result = ResultCode.of(code.intValue());
    // Then
    assertThat(result).isNotNull();
    assertThat(result == ResultCode.DONE).isEqualTo(code == Code.OK);
    assertThat(ResultCode.name(code.intValue())).isEqualTo(code.name());
  }

  @Test
  void codeThatThisClientHasNeverHeardOfIsRefused() {
    // When
    int unknown = -4711;
    // Then
    assertThat(ResultCode.of(unknown)).isEqualTo(ResultCode.REFUSED);
    assertThat(ResultCode.name(unknown)).isEqualTo("error -4711");
  }
}
