package io.lockkeeper.server.zookeeper.client;

import java.util.List;
import java.util.OptionalLong;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.jspecify.annotations.Nullable;

/**
 * The reply to a transaction, read in one place because it is easily misread: in a failed one the
 * operations before the culprit say OK and yet nothing was done; and the list is null or empty when
 * the answer was lost or never asked for.
 */
public sealed interface MultiReply {

  /**
   * All was done.
   *
   * @param results one for each operation
   */
  record Committed(List<OpResult> results) implements MultiReply {

    /** Returns the transaction's zxid, if it created anything and was to answer with the Stat. */
    public OptionalLong zxid() {
      for (OpResult result : results) {
        if (result instanceof CreateResult created && created.getStat() != null) {
          return OptionalLong.of(created.getStat().getCzxid());
        }
      }
      return OptionalLong.empty();
    }
  }

  /**
   * Nothing was done, because of one operation.
   *
   * @param index the operation
   * @param code what was wrong with it
   */
  record Culprit(int index, int code) implements MultiReply {}

  /**
   * The whole failed or was lost, and no operation is to blame.
   *
   * @param result what that means
   * @param code the error code
   */
  record Whole(ResultCode result, int code) implements MultiReply {}

  /** Reads the reply to a transaction of {@code operations} operations. */
  static MultiReply of(int code, @Nullable List<OpResult> answered, int operations) {
    List<OpResult> results = answered == null ? List.of() : answered;
    boolean complete = results.size() == operations;
    if (code == Code.OK.intValue()) {
      // An answer that does not fit the question proves nothing.
      return complete ? new Committed(List.copyOf(results)) : new Whole(ResultCode.IN_DOUBT, code);
    }
    if (complete && ResultCode.of(code) != ResultCode.IN_DOUBT) {
      for (int i = 0; i < operations; i++) {
        if (results.get(i) instanceof ErrorResult error && isCulprit(error)) {
          return new Culprit(i, error.getErr());
        }
      }
    }
    return new Whole(ResultCode.of(code), code);
  }

  /**
   * Reads the result of a creation that answers with the node's Stat.
   *
   * @throws IllegalStateException if it has none, or it is another operation's
   */
  static CreateResult created(OpResult result) {
    if (result instanceof CreateResult created && created.getStat() != null) {
      return created;
    }
    throw new IllegalStateException("a created node came back without its Stat");
  }

  private static boolean isCulprit(ErrorResult error) {
    return error.getErr() != Code.OK.intValue()
        && error.getErr() != Code.RUNTIMEINCONSISTENCY.intValue();
  }
}
