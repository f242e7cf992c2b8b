package io.lockkeeper.server.zookeeper.record;

import io.lockkeeper.server.core.lock.EntryTerms;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import tools.jackson.databind.JsonNode;

/** The terms in the data of an entry's node; what is plain is left out. */
final class TermsData {

  private TermsData() {}

  static Map<String, Object> fields(EntryTerms terms) {
    Map<String, Object> object = new LinkedHashMap<>();
    describe(terms, object::put);
    return object;
  }

  static void describe(EntryTerms terms, BiConsumer<String, Object> object) {
    if (terms.locks() != EntryTerms.PLAIN.locks()) {
      object.accept("locks", terms.locks());
    }
    terms.waitTimeout().ifPresent(wait -> object.accept("wait_ms", Json.millis(wait)));
    terms.maxHold().ifPresent(hold -> object.accept("max_hold_ms", Json.millis(hold)));
    if (!terms.lockDelay().isZero()) {
      object.accept("delay_ms", Json.millis(terms.lockDelay()));
    }
    if (terms.ownStream()) {
      object.accept("call", true);
    }
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
