package io.lockkeeper.server.security;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.dataformat.yaml.YAMLMapper;
import tools.jackson.dataformat.yaml.YAMLParser;

/**
 * A value of a YAML file, with the line where it stands, so that an error says what must be changed
 * and where. Aliases are refused: {@code *orders} without quotes is one, and would be read as
 * something else than what it looks like.
 *
 * @param line where it begins, from 1
 * @param content a {@code String} (what YAML reads as text), a {@link Plain} (a number, a boolean
 *     or null), a {@code List} of values, or a {@code Map} of key to value
 */
record YamlValue(int line, Object content) {

  private static final YAMLMapper YAML = new YAMLMapper();

  /** The deepest nesting: more than any of our files needs, and far from the stack's end. */
  private static final int MAX_DEPTH = 20;

  /** A scalar that YAML does not read as text, as it is written. */
  record Plain(String text) {}

  /**
   * Reads a file of one document.
   *
   * @throws IllegalArgumentException if it is not YAML in UTF-8, or has a key twice, an alias, or a
   *     second document; the message says in which line
   */
  static YamlValue parse(byte[] file) {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(file)).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("not in UTF-8", e);
    }
    try (JsonParser parser = YAML.createParser(text)) {
      if (parser.nextToken() == null) {
        throw new IllegalArgumentException("is empty");
      }
      YamlValue root = read(parser, 0);
      if (parser.nextToken() != null) {
        throw error(lineOf(parser), "a second document: write one only");
      }
      return root;
    } catch (JacksonException e) {
      int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
      String what = e.getOriginalMessage().lines().findFirst().orElse("not YAML").strip();
      throw error(line, what);
    }
  }

  private static YamlValue read(JsonParser parser, int depth) {
    int line = lineOf(parser);
    if (parser instanceof YAMLParser yaml && yaml.isCurrentAlias()) {
      throw error(line, "*" + parser.getString() + " is an alias: write text with a * in quotes");
    }
    if (depth > MAX_DEPTH) {
      throw error(line, "nested more than " + MAX_DEPTH + " levels deep");
    }
    JsonToken token = parser.currentToken();
    if (token == JsonToken.START_ARRAY) {
      List<YamlValue> elements = new ArrayList<>();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        elements.add(read(parser, depth + 1));
      }
      return new YamlValue(line, elements);
    }
    if (token == JsonToken.START_OBJECT) {
      Map<String, YamlValue> members = new LinkedHashMap<>();
      while (parser.nextToken() != JsonToken.END_OBJECT) {
        String key = parser.currentName();
        int keyLine = lineOf(parser);
        parser.nextToken();
        if (members.put(key, read(parser, depth + 1)) != null) {
          throw error(keyLine, "\"" + key + "\" a second time");
        }
      }
      return new YamlValue(line, members);
    }
    String text = parser.getString();
    return new YamlValue(line, token == JsonToken.VALUE_STRING ? text : new Plain(text));
  }

  private static int lineOf(JsonParser parser) {
    return parser.currentTokenLocation().getLineNr();
  }

  private static IllegalArgumentException error(int line, String what) {
    return new IllegalArgumentException("line " + line + ": " + what);
  }

  /** Returns the error that this value is. */
  IllegalArgumentException error(String what) {
    return error(line, what);
  }

  /**
   * Returns the value as a mapping.
   *
   * @param what what it is, such as {@code rule 2}: errors say it
   * @param keys the keys that it may have
   */
  Mapping mapping(String what, String... keys) {
    if (!(content instanceof Map<?, ?> members)) {
      throw error(what + " must be a mapping with the keys " + String.join(", ", keys));
    }
    Mapping mapping = new Mapping(this, what, members);
    List<String> allowed = List.of(keys);
    members.forEach(
        (key, value) -> {
          if (!allowed.contains(key)) {
            throw ((YamlValue) value)
                .error(
                    what
                        + ": unknown key \""
                        + key
                        + "\"; allowed are "
                        + String.join(", ", allowed));
          }
        });
    return mapping;
  }

  /** Returns the value as text. */
  String text(String what) {
    if (content instanceof String text && !text.isEmpty()) {
      return text;
    }
    if (content instanceof Plain plain && !plain.text().isEmpty()) {
      throw error(what + " must be text: write \"" + plain.text() + "\", in quotes");
    }
    throw error(what + " must be text, and not empty");
  }

  /** Returns the value as a list with at least one element. */
  List<YamlValue> list(String what) {
    List<YamlValue> elements = new ArrayList<>();
    if (content instanceof List<?> list) {
      list.forEach(element -> elements.add((YamlValue) element));
    } else {
      throw error(what + " must be a list");
    }
    if (elements.isEmpty()) {
      throw error(what + " must not be empty");
    }
    return elements;
  }

  /**
   * A mapping whose keys are all known.
   *
   * @param value where it stands
   * @param what what it is: errors say it
   * @param members key to {@link YamlValue}
   */
  record Mapping(YamlValue value, String what, Map<?, ?> members) {

    /** Returns the value of a key, if it is there. */
    Optional<YamlValue> get(String key) {
      @Nullable Object member = members.get(key);
      return member instanceof YamlValue found ? Optional.of(found) : Optional.empty();
    }

    /** Returns the value of a key that must be there. */
    YamlValue required(String key) {
      return get(key).orElseThrow(() -> value.error(what + ": \"" + key + "\" is missing"));
    }

    /** Returns what errors call a key's value. */
    String at(String key) {
      return what + ", " + key;
    }

    /** Returns the different texts of a list that must be there. */
    List<YamlValue> texts(String key) {
      List<YamlValue> texts = required(key).list(at(key));
      Set<String> seen = new HashSet<>();
      for (YamlValue each : texts) {
        String text = each.text(at(key));
        if (!seen.add(text)) {
          throw each.error(at(key) + ": \"" + text + "\" a second time");
        }
      }
      return texts;
    }

    /** Returns a whole number within bounds, or {@code otherwise} where the key is not there. */
    long count(String key, long min, long max, long otherwise) {
      Optional<YamlValue> found = get(key);
      if (found.isEmpty()) {
        return otherwise;
      }
      boolean whole =
          found.get().content() instanceof Plain plain && plain.text().matches("[0-9]{1,18}");
      long count = whole ? Long.parseLong(((Plain) found.get().content()).text()) : -1;
      if (count < min || count > max) {
        throw found.get().error(at(key) + " must be a whole number, " + min + " to " + max);
      }
      return count;
    }
  }
}
