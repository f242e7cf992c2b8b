package io.lockkeeper.server.zookeeper;

import io.lockkeeper.server.core.EntryTerms;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** The terms in the data of an entry's node; what is plain is left out. */
final class TermsData {

  private TermsData() {}

  static Map<String, Object> fields(EntryTerms terms) {
    Map<String, Object> object = new LinkedHashMap<>();
    if (terms.locks() != EntryTerms.PLAIN.locks()) {
      object.put("locks", terms.locks());
    }
    terms.waitTimeout().ifPresent(wait -> object.put("wait_ms", Json.millis(wait)));
    terms.maxHold().ifPresent(hold -> object.put("max_hold_ms", Json.millis(hold)));
    if (!terms.lockDelay().isZero()) {
      object.put("delay_ms", Json.millis(terms.lockDelay()));
    }
    if (terms.ownStream()) {
      object.put("call", true);
    }
    return object;
  }

  static EntryTerms read(JsonNode object) {
    long locks = Json.number(object, "locks");
    return new EntryTerms(
        locks > 0 && locks <= Integer.MAX_VALUE ? (int) locks : EntryTerms.PLAIN.locks(),
        Json.duration(object, "wait_ms"),
        Json.duration(object, "max_hold_ms"),
        Json.duration(object, "delay_ms").orElse(Duration.ZERO),
        object.path("call").asBoolean(false));
  }
}
