package io.lockkeeper.cli.shell;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.slf4j.event.KeyValuePair;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes each event of the log as a JSON object on a line of its own: {@code time} (ISO 8601, with
 * the zone), {@code level}, {@code logger} and {@code message}; its key-values, each as a field;
 * and {@code exception}, a stack trace, where there is one. A key that is one of these names, or
 * comes twice, has underscores behind it.
 */
public final class JsonLines extends EncoderBase<ILoggingEvent> {

  private static final byte[] NOTHING = {};

  private final JsonMapper mapper = JsonMapper.builder().build();
  private final DateTimeFormatter time =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX").withZone(ZoneId.systemDefault());

  /** Makes one, as the configuration of the log asks for. */
  public JsonLines() {}

  /** Returns nothing: each line stands for itself. */
  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  /** Returns the event's line, its end included. */
  @Override
  public byte[] encode(ILoggingEvent event) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("time", time.format(Instant.ofEpochMilli(event.getTimeStamp())));
    fields.put("level", event.getLevel().toString());
    fields.put("logger", event.getLoggerName());
    fields.put("message", String.valueOf(event.getFormattedMessage()));
    if (event.getThrowableProxy() != null) {
      fields.put("exception", ThrowableProxyUtil.asString(event.getThrowableProxy()));
    }
    List<KeyValuePair> pairs = Objects.requireNonNullElse(event.getKeyValuePairs(), List.of());
    for (KeyValuePair pair : pairs) {
      String key = pair.key;
      while (fields.containsKey(key) || key.equals("exception")) {
        key += "_";
      }
      fields.put(key, value(pair.value));
    }
    return (mapper.writeValueAsString(fields) + "\n").getBytes(StandardCharsets.UTF_8);
  }

  private static Object value(Object value) {
    if (value instanceof Number || value instanceof Boolean) {
      return value;
    }
    if (value instanceof Collection<?> many) {
      return many.stream().map(JsonLines::value).toList();
    }
    if (value instanceof Map<?, ?> named) {
      Map<String, Object> fields = new LinkedHashMap<>();
      named.forEach((key, each) -> fields.put(String.valueOf(key), value(each)));
      return fields;
    }
    return String.valueOf(value);
  }

  /** Returns nothing: each line stands for itself. */
  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }
}
