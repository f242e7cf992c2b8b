package io.lockkeeper.server.zookeeper.record;

import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * The format of what coordinators write into ZooKeeper: a number in every record, so that those of
 * one release can tell what another has written. A release writes its own format and reads the next
 * one too, which may only add fields that can be ignored. What is newer still it does not
 * interpret. What has no format is no record.
 *
 * <p>What the names of nodes say, and in entries the fields {@code lease}, {@code index}, {@code
 * part} and {@code token}, means the same in all formats: by the first it is known that an entry is
 * ours and has a format at all, since others may write anything; order and tokens depend on the
 * rest.
 */
public final class RecordFormat {

  /** The format that this release writes. */
  static final int CURRENT = 1;

  /** The newest format that this release reads. */
  static final int NEWEST_READABLE = CURRENT + 1;

  private static final String FIELD = "format";
  private static final int MAX_SHOWN = 64;

  private RecordFormat() {}

  /** Returns a new record, to be filled. */
  public static Map<String, Object> newRecord() {
    return newRecord(CURRENT);
  }

  /** Returns a new record of a format, to be filled. */
  static Map<String, Object> newRecord(int format) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put(FIELD, format);
    return object;
  }

  /** Returns the format of a record that is readable. */
  static int of(JsonNode object) {
    return (int) Json.number(object, FIELD);
  }

  /** Returns whether this release may interpret a record. */
  static boolean isReadable(JsonNode object) {
    long format = Json.number(object, FIELD);
    return format >= 1 && format <= NEWEST_READABLE;
  }

  /** Returns whether a record is of a format that only another release can interpret. */
  static boolean isOfAnotherRelease(JsonNode object) {
    return object.has(FIELD) && !isReadable(object);
  }

  /** Returns what to show of a record that is not readable. */
  static String inWords(JsonNode object) {
    if (object.path(FIELD).isMissingNode()) {
      return "(a record without a format, which this version cannot read)";
    }
    // As JSON: what is no printable character of a text is escaped, but for those beyond ASCII.
    String format =
        String.valueOf(object.get(FIELD))
            .codePoints()
            .limit(MAX_SHOWN)
            .map(c -> c < ' ' || c > '~' ? '?' : c)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
    return "(a record of format " + format + ", which this version cannot read)";
  }
}
