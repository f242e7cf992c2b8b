package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.RevocationRequest;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** What becomes of an entry's data by an update. Fields that this version does not know stay. */
public final class UpdatedEntryData {

  // The wish is not among them: only others write it, and the entry's owner may not know of it yet.
  private static final Set<String> DESCRIBED =
      Set.of("lease", "request", "owner", "holder", "metadata", "stream", "unsearched", "needs_ms");

  private UpdatedEntryData() {}

  /**
   * Returns the data as updated; the same again if it is updated already. Returns nothing for an
   * entry of ours in a format that this release cannot read.
   */
  public static Optional<byte[]> of(byte[] data, EntryUpdate update) {
    Optional<JsonNode> ours = EntryData.ours(data);
    return ours.filter(object -> !RecordFormat.isReadable(object)).isPresent()
        ? Optional.empty()
        : Optional.of(updated(data, ours, update));
  }

  private static byte[] updated(byte[] data, Optional<JsonNode> ours, EntryUpdate update) {
    if (update instanceof EntryUpdate.Describe describe) {
      return ours.map(object -> described(object, describe)).orElseGet(() -> restored(describe));
    }
    if (update instanceof EntryUpdate.Ask ask) {
      return ours.map(object -> asked(object, ask.ask())).orElseGet(EntryData::revoked);
    }
    return data;
  }

  private static byte[] described(JsonNode object, EntryUpdate.Describe describe) {
    Map<String, Object> fields = EntryData.fields(describe.details());
    for (Map.Entry<String, JsonNode> old : object.properties()) {
      if (!DESCRIBED.contains(old.getKey())) {
        fields.put(old.getKey(), old.getValue());
      }
    }
    return Json.write(fields);
  }

  /** Returns the data of one of our entries that somebody has overwritten. */
  private static byte[] restored(EntryUpdate.Describe describe) {
    Map<String, Object> fields = EntryData.fields(describe.details());
    fields.putAll(EntryData.fields(describe.index(), describe.ordinal(), describe.keptToken()));
    return Json.write(fields);
  }

  private static byte[] asked(JsonNode object, RevocationRequest ask) {
    Map<String, Object> fields = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> old : object.properties()) {
      fields.put(old.getKey(), old.getValue());
    }
    fields.put("ask", EntryData.fields(ask));
    return Json.write(fields);
  }
}
