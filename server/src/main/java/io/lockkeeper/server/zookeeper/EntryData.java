package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.EntryDetails;
import io.lockkeeper.server.core.FencingToken;
import io.lockkeeper.server.core.StoreEvent.ReadEntry;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * The data of an entry's node: what it says of itself, and its index in its transaction, as compact
 * JSON.
 */
final class EntryData {

  private static final int MAX_FOREIGN_HOLDER = 64;

  private final byte[] withoutIndex;

  private EntryData(byte[] withoutIndex) {
    this.withoutIndex = withoutIndex;
  }

  static EntryData of(EntryDetails details) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("lease", details.leaseId());
    object.put("request", details.requestId());
    if (!details.owner().isEmpty()) {
      object.put("owner", details.owner());
    }
    object.put("holder", details.holder());
    if (!details.metadata().isEmpty()) {
      object.put("metadata", details.metadata());
    }
    if (details.streamBound()) {
      object.put("stream", true);
    }
    return new EntryData(Json.write(object));
  }

  /** Returns about how many bytes the data takes. */
  int bytes() {
    return withoutIndex.length;
  }

  /** Returns the data of the entry at {@code index} of its transaction. Zero is left out. */
  byte[] withIndex(int index) {
    if (index == 0) {
      return withoutIndex.clone();
    }
    byte[] tail = (",\"index\":" + index + "}").getBytes(StandardCharsets.US_ASCII);
    int body = withoutIndex.length - 1;
    byte[] whole = Arrays.copyOf(withoutIndex, body + tail.length);
    System.arraycopy(tail, 0, whole, body, tail.length);
    return whole;
  }

  /** Reads any entry's data; one that is not ours says only what it can. Never fails. */
  static ReadEntry read(byte[] data, long czxid) {
    Optional<JsonNode> ours = Json.readObject(data);
    if (ours.isEmpty()) {
      EntryDetails foreign = new EntryDetails("", "", "", printable(data), Map.of(), false);
      return new ReadEntry(foreign, czxid, 0);
    }
    JsonNode object = ours.get();
    EntryDetails details =
        new EntryDetails(
            Json.text(object, "lease"),
            Json.text(object, "request"),
            Json.text(object, "owner"),
            Json.text(object, "holder"),
            Json.texts(object, "metadata"),
            object.path("stream").asBoolean(false));
    long index = Json.number(object, "index");
    boolean fits = index >= 0 && index <= FencingToken.MAX_INDEX;
    return new ReadEntry(details, czxid, fits ? (int) index : 0);
  }

  private static String printable(byte[] data) {
    StringBuilder text = new StringBuilder();
    new String(data, 0, Math.min(data.length, MAX_FOREIGN_HOLDER * 4), StandardCharsets.UTF_8)
        .codePoints()
        .filter(EntryData::isPrintable)
        .limit(MAX_FOREIGN_HOLDER)
        .forEach(text::appendCodePoint);
    return text.toString();
  }

  private static boolean isPrintable(int codePoint) {
    int type = Character.getType(codePoint);
    return type != Character.CONTROL
        && type != Character.FORMAT
        && type != Character.SURROGATE
        && type != Character.UNASSIGNED
        && codePoint != 0xFFFD;
  }
}
