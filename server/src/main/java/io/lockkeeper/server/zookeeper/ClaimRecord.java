package io.lockkeeper.server.zookeeper;

import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Whose a lock session is: the data of its claim record. The node's version is the epoch of the
 * claim.
 *
 * @param owner the coordinator's id
 * @param timeoutMillis the session's timeout; zero if the record does not say
 */
record ClaimRecord(String owner, long timeoutMillis) {

  /** Returns a record's data, with what a peer needs to attach to the session. */
  static byte[] write(String owner, SessionIdentity session, long timeoutMillis) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("owner", owner);
    object.put("session", StorePaths.claimName(session.id()));
    object.put("password", HexFormat.of().formatHex(session.password()));
    object.put("timeoutMillis", timeoutMillis);
    return Json.write(object);
  }

  /** Reads a record; what is not there or not understood is empty. */
  static ClaimRecord read(byte[] data) {
    return Json.readObject(data)
        .map(
            o ->
                new ClaimRecord(
                    Json.text(o, "owner"), Math.max(0, Json.number(o, "timeoutMillis"))))
        .orElse(new ClaimRecord("", 0));
  }
}
