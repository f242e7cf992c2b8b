package io.lockkeeper.server.zookeeper.client;

import java.util.Arrays;
import java.util.Optional;
import org.apache.zookeeper.KeeperException.Code;

/** What an error code of ZooKeeper means for what was asked. */
public enum ResultCode {
  /** Done. */
  DONE,
  /** Done or not done: the answer was lost. */
  IN_DOUBT,
  /** Not done; the same may succeed a little later. */
  RETRY,
  /** Not done, and asking again would not help. */
  REFUSED;

  /** Returns the verdict for an error code, known or not. */
  public static ResultCode of(int code) {
    return known(code).map(ResultCode::of).orElse(REFUSED);
  }

  private static Optional<Code> known(int code) {
    // Code.get throws at what this version of the client has not heard of.
    return Arrays.stream(Code.values()).filter(known -> known.intValue() == code).findFirst();
  }

  private static ResultCode of(Code code) {
    return switch (code) {
      case OK -> DONE;
      // A dead handle hides the outcome of what it carried just as a lost connection does; a
      // request of a moved session
      // is dropped together with the connection, and what went before it may have been done.
      case CONNECTIONLOSS,
          OPERATIONTIMEOUT,
          REQUESTTIMEOUT,
          SESSIONEXPIRED,
          SESSIONMOVED,
          UNKNOWNSESSION,
          AUTHFAILED,
          SESSIONCLOSEDREQUIRESASLAUTH ->
          IN_DOUBT;
      case THROTTLEDOP, NEWCONFIGNOQUORUM, RECONFIGINPROGRESS, NOTREADONLY, SYSTEMERROR -> RETRY;
      case RUNTIMEINCONSISTENCY,
          DATAINCONSISTENCY,
          MARSHALLINGERROR,
          UNIMPLEMENTED,
          BADARGUMENTS,
          QUOTAEXCEEDED,
          APIERROR,
          NONODE,
          NOAUTH,
          BADVERSION,
          NOCHILDRENFOREPHEMERALS,
          NODEEXISTS,
          NOTEMPTY,
          INVALIDCALLBACK,
          INVALIDACL,
          EPHEMERALONLOCALSESSION,
          NOWATCHER,
          RECONFIGDISABLED ->
          REFUSED;
    };
  }

  /** Returns whether it can be mended by whoever looks after ZooKeeper's nodes. */
  public static boolean isMendable(int code) {
    return known(code)
        .filter(
            what ->
                what == Code.NOAUTH
                    || what == Code.INVALIDACL
                    || what == Code.NOTEMPTY
                    || what == Code.QUOTAEXCEEDED
                    || what == Code.NOCHILDRENFOREPHEMERALS)
        .isPresent();
  }

  /** Returns a code's name, human-readable. */
  public static String name(int code) {
    return known(code).map(Code::name).orElse("error " + code);
  }
}
