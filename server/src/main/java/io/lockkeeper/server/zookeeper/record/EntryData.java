package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.RevocationRequest;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import tools.jackson.databind.JsonNode;

/**
 * The data of an entry's node as compact JSON: what it says of itself, its index in its
 * transaction, its ordinal in its request, and the token that it keeps of the hold that it goes on.
 */
public final class EntryData {

  /** What Curator's Revoker writes into an entry, instead of whatever was there. */
  private static final byte[] REVOKED =
      RevocationRequest.BY_CURATOR.getBytes(StandardCharsets.UTF_8);

  private static final int MAX_FOREIGN_HOLDER = 64;

  private final byte[] common;

  private EntryData(byte[] common) {
    this.common = common;
  }

  /** Makes the data of entries that say the same of themselves. */
  public static EntryData of(EntryDetails details) {
    JsonWriter writer = new JsonWriter();
    describe(details, writer::put);
    return new EntryData(writer.toBytes());
  }

  /** Returns what the data of every entry says that has these details. */
  static Map<String, Object> fields(EntryDetails details) {
    Map<String, Object> object = new LinkedHashMap<>();
    describe(details, object::put);
    return object;
  }

  private static void describe(EntryDetails details, BiConsumer<String, Object> object) {
    object.accept("lease", details.leaseId());
    object.accept("request", details.requestId());
    if (!details.owner().isEmpty()) {
      object.accept("owner", details.owner());
    }
    object.accept("holder", details.holder());
    if (!details.metadata().isEmpty()) {
      object.accept("metadata", details.metadata());
    }
    if (details.streamBound()) {
      object.accept("stream", true);
    }
    if (details.unsearched()) {
      object.accept("unsearched", true);
    }
    details.needsMillis().ifPresent(millis -> object.accept("needs_ms", millis));
    details.ask().ifPresent(ask -> object.accept("ask", fields(ask)));
    TermsData.describe(details.terms(), object);
  }

  /** Returns how a wish to give way is written. */
  static Map<String, Object> fields(RevocationRequest ask) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("id", ask.id());
    object.put("by", ask.requester());
    object.put("why", ask.reason());
    ask.deadline().ifPresent(deadline -> object.put("ms", Json.millis(deadline)));
    if (ask.force()) {
      object.put("force", true);
    }
    return object;
  }

  /**
   * Returns what tells one entry from others with the same details. An index or ordinal of zero is
   * left out.
   */
  static Map<String, Object> fields(int index, int ordinal, Optional<FencingToken> kept) {
    Map<String, Object> object = new LinkedHashMap<>();
    if (index != 0) {
      object.put("index", index);
    }
    if (ordinal != 0) {
      object.put("part", ordinal);
    }
    // As a text: many who read JSON have no more than 53 bits for a number.
    kept.ifPresent(token -> object.put("token", token.toString()));
    return object;
  }

  /** Returns what Curator's Revoker writes. */
  static byte[] revoked() {
    return REVOKED.clone();
  }

  /** Returns about how many bytes the data takes. */
  public int bytes() {
    return common.length;
  }

  /**
   * Returns the data of the entry at {@code index} of its transaction and {@code ordinal} of its
   * request. Not to be changed: entries may share it.
   */
  public byte[] with(int index, int ordinal, Optional<FencingToken> kept) {
    if (index == 0 && ordinal == 0 && kept.isEmpty()) {
      return common;
    }
    Map<String, Object> own = fields(index, ordinal, kept);
    byte[] tail = Json.write(own);
    tail[0] = ',';
    int body = common.length - 1;
    byte[] whole = Arrays.copyOf(common, body + tail.length);
    System.arraycopy(tail, 0, whole, body, tail.length);
    return whole;
  }

  /**
   * Returns the object that one of our own entries carries, or empty if it carries another thing.
   */
  static Optional<JsonNode> ours(byte[] data) {
    return Json.readObject(data).filter(object -> !Json.text(object, "lease").isEmpty());
  }

  /** Reads any entry's data; one that is not ours says only what it can. Never fails. */
  public static ReadEntry read(byte[] data, long czxid) {
    Optional<JsonNode> object = Json.readObject(data);
    if (object.isEmpty()) {
      boolean revoked = Arrays.equals(data, REVOKED);
      EntryDetails foreign =
          EntryDetails.foreign(
              revoked ? "" : printable(data),
              revoked ? Optional.of(byCurator()) : Optional.empty());
      return new ReadEntry(foreign, czxid, 0, Optional.empty());
    }
    return new ReadEntry(
        details(object.get()),
        czxid,
        upTo(FencingToken.MAX_INDEX, object.get(), "index"),
        upTo(Integer.MAX_VALUE, object.get(), "part"),
        token(object.get()));
  }

  /** Returns a number from zero to {@code largest}; zero if another or none is there. */
  private static int upTo(int largest, JsonNode object, String field) {
    long number = Json.number(object, field);
    return number >= 0 && number <= largest ? (int) number : 0;
  }

  private static RevocationRequest byCurator() {
    return new RevocationRequest(RevocationRequest.BY_CURATOR, "", "", Optional.empty(), false);
  }

  private static EntryDetails details(JsonNode object) {
    String lease = Json.text(object, "lease");
    return new EntryDetails(
        lease,
        Json.text(object, "request"),
        Json.text(object, "owner"),
        Json.text(object, "holder"),
        Json.texts(object, "metadata"),
        object.path("stream").asBoolean(false),
        object.path("unsearched").asBoolean(lease.isEmpty()),
        Json.natural(object, "needs_ms"),
        ask(object.path("ask")),
        TermsData.read(object));
  }

  private static Optional<RevocationRequest> ask(JsonNode object) {
    String id = Json.text(object, "id");
    return id.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new RevocationRequest(
                id,
                Json.text(object, "by"),
                Json.text(object, "why"),
                Json.duration(object, "ms"),
                object.path("force").asBoolean(false)));
  }

  private static Optional<FencingToken> token(JsonNode object) {
    return Json.natural(object, "token").filter(value -> value > 0).map(FencingToken::new);
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
