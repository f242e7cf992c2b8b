package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.Freeze;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** What the node of a frozen prefix says: why, who, for how long. Its name says the prefix. */
public final class FreezeRecord {

  private FreezeRecord() {}

  /** Returns the node's data. */
  public static byte[] write(Freeze freeze) {
    Map<String, Object> object = RecordFormat.newRecord();
    object.put("reason", freeze.reason());
    object.put("requester", freeze.requester());
    freeze.duration().ifPresent(duration -> object.put("durationMillis", Json.millis(duration)));
    object.put("account", freeze.account());
    return Json.write(object);
  }

  /**
   * Reads a node's data. The prefix is frozen whatever it says: what cannot be read has no duration
   * and is thawed by hand, or by a coordinator that can read it.
   */
  public static Freeze read(String prefix, byte[] data) {
    Optional<JsonNode> object = Json.readObject(data);
    if (object.isEmpty()) {
      return Freeze.unread(prefix, Freeze.UNREADABLE);
    }
    return RecordFormat.isReadable(object.get())
        ? new Freeze(
            prefix,
            Json.text(object.get(), "reason"),
            Json.text(object.get(), "requester"),
            Json.duration(object.get(), "durationMillis"),
            AccountTag.parse(Json.text(object.get(), "account")))
        : Freeze.unread(prefix, RecordFormat.inWords(object.get()));
  }
}
