package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.api.StoreEvent.ReadEntry;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryTerms;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.RevocationRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
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

  /** Far more than an entry of ours ever has: metadata and texts are limited. */
  private static final int MAX_BYTES = 128 << 10;

  /** How most entries end, by their index; no transaction of ours has so many operations. */
  private static final List<byte[]> TAILS =
      IntStream.range(0, 256).mapToObj(index -> tail(index, 0, Optional.empty())).toList();

  private final byte[] common;

  private EntryData(byte[] common) {
    this.common = common;
  }

  /** Makes the data of entries that say the same of themselves. */
  public static EntryData of(EntryDetails details) {
    return new EntryData(Json.write(fields(details)));
  }

  /**
   * Returns what the data of every entry says that has these details; what is plain is left out.
   */
  static Map<String, Object> fields(EntryDetails details) {
    Map<String, Object> object = RecordFormat.newRecord();
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
    if (details.unsearched() != details.owner().isEmpty()) {
      object.put("unsearched", details.unsearched());
    }
    details.needsMillis().ifPresent(millis -> object.put("needs_ms", millis));
    details.ask().ifPresent(ask -> object.put("ask", fields(ask)));
    object.putAll(fields(details.terms()));
    return object;
  }

  /** Returns how the terms of a request are written; what is plain is left out. */
  static Map<String, Object> fields(EntryTerms terms) {
    Map<String, Object> object = new LinkedHashMap<>();
    if (terms.locks() != EntryTerms.PLAIN.locks()) {
      object.put("locks", terms.locks());
    }
    terms.waitTimeout().ifPresent(wait -> object.put("wait_ms", Json.millis(wait)));
    terms.maxHold().ifPresent(hold -> object.put("max_hold_ms", Json.millis(hold)));
    if (!terms.lockDelay().isZero()) {
      object.put("delay_ms", Json.millis(terms.lockDelay()));
      object.put("delay_of", terms.guardAccount());
    }
    if (terms.ownStream()) {
      object.put("call", true);
    }
    return object;
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

  /** Returns what tells one entry from others with the same details. What is zero is left out. */
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
    boolean hasIndexOnly = ordinal == 0 && kept.isEmpty();
    if (hasIndexOnly && index == 0) {
      return common;
    }
    byte[] tail =
        hasIndexOnly && index < TAILS.size() ? TAILS.get(index) : tail(index, ordinal, kept);
    int body = common.length - 1;
    byte[] whole = Arrays.copyOf(common, body + tail.length);
    System.arraycopy(tail, 0, whole, body, tail.length);
    return whole;
  }

  private static byte[] tail(int index, int ordinal, Optional<FencingToken> kept) {
    byte[] tail = Json.write(fields(index, ordinal, kept));
    tail[0] = ',';
    return tail;
  }

  /**
   * Returns the object that one of our own entries carries, or empty if it carries another thing.
   */
  static Optional<JsonNode> ours(byte[] data) {
    return Json.readObject(data).filter(EntryData::isOurs);
  }

  private static boolean isOurs(JsonNode object) {
    return !Json.text(object, "lease").isEmpty();
  }

  /** Reads any entry's data; one that is not ours says only what it can. Never fails. */
  public static ReadEntry read(byte[] data, long czxid) {
    // What is larger is nothing of ours, and would stay in memory for as long as the entry does.
    Optional<JsonNode> object = data.length > MAX_BYTES ? Optional.empty() : Json.readObject(data);
    if (object.isEmpty()) {
      boolean revoked = Arrays.equals(data, REVOKED);
      EntryDetails foreign =
          EntryDetails.foreign(
              revoked ? "" : printable(data),
              revoked ? Optional.of(byCurator()) : Optional.empty());
      return new ReadEntry(foreign, czxid, 0, Optional.empty());
    }
    return new ReadEntry(
        isOurs(object.get()) && !RecordFormat.isReadable(object.get())
            ? EntryDetails.foreign(RecordFormat.inWords(object.get()), Optional.empty())
            : details(object.get()),
        czxid,
        upTo(FencingToken.MAX_INDEX, object.get(), "index"),
        upTo(Integer.MAX_VALUE, object.get(), "part"),
        token(object.get()));
  }

  /** Returns what is known of an entry whose data must not be read: it is none of ours. */
  public static ReadEntry unreadable() {
    return new ReadEntry(
        EntryDetails.foreign("(cannot be read)", Optional.empty()), 0, 0, Optional.empty());
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
    String owner = Json.text(object, "owner");
    return new EntryDetails(
        Json.text(object, "lease"),
        Json.text(object, "request"),
        owner,
        Json.text(object, "holder"),
        Json.texts(object, "metadata"),
        object.path("stream").asBoolean(false),
        object.path("unsearched").asBoolean(owner.isEmpty()),
        Json.natural(object, "needs_ms"),
        ask(object.path("ask")),
        terms(object));
  }

  static EntryTerms terms(JsonNode object) {
    long locks = Json.number(object, "locks");
    return new EntryTerms(
        locks > 0 && locks <= Integer.MAX_VALUE ? (int) locks : EntryTerms.PLAIN.locks(),
        Json.duration(object, "wait_ms"),
        Json.duration(object, "max_hold_ms"),
        Json.duration(object, "delay_ms").orElse(Duration.ZERO),
        Json.text(object, "delay_of"),
        object.path("call").asBoolean(false));
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
