package io.lockkeeper.server.web.api;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.lockkeeper.server.web.http.Request;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Makes the request of a call out of one over HTTP: by the mapping of Protocol Buffers to JSON. */
final class RequestParser {

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private static final String PATH = "the path";
  private static final String QUERY = "the query";

  /** What is not part of a path (RFC 3986, 3.3). */
  private static final Pattern MALFORMED_PATH =
      Pattern.compile("[^A-Za-z0-9._~!$&'()*+,;=:@/?%-]|%(?![0-9A-Fa-f]{2})");

  /** What is not part of a query (RFC 3986, 3.4), and browsers do not send in one either. */
  private static final Pattern MALFORMED_QUERY =
      Pattern.compile("[^A-Za-z0-9._~!$&'()*+,;=:@/?%|\\[\\]{}\\\\^`-]|%(?![0-9A-Fa-f]{2})");

  /** A browser that comes back to a stream says so what it has seen last. */
  private static final String LAST_EVENT_ID = "Last-Event-ID";

  private static final String START_REVISION = "startRevision";

  private RequestParser() {}

  /** A request that cannot be read; the message names what is wrong. */
  static final class UnreadableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableException(String message) {
      super(message);
    }
  }

  /**
   * Returns the request of the call.
   *
   * @throws UnreadableException if the path, the query or the body is not one
   */
  static Message read(Route route, Request request) throws UnreadableException {
    Message.Builder builder = route.request().newBuilderForType();
    try {
      if (route.post()) {
        JsonFormat.parser()
            .merge(strict(request.body().isBlank() ? "{}" : request.body()), builder);
      } else {
        JsonFormat.parser().merge(JSON.writeValueAsString(fields(route, request)), builder);
      }
      Message message = builder.build();
      // An escaped half of a surrogate pair has no UTF-8: it would become a question mark.
      if (!message.getParserForType().parseFrom(message.toByteString()).equals(message)) {
        throw new UnreadableException("the body: a string has half of a surrogate pair");
      }
      return message;
    } catch (InvalidProtocolBufferException e) {
      throw new UnreadableException(
          (route.post() ? "the body" : "the path or the query") + ": " + e.getMessage());
    }
  }

  /** The parser of Protocol Buffers takes more than JSON, and ignores what follows it. */
  private static String strict(String json) throws UnreadableException {
    try {
      var unused = JSON.readTree(json);
      return json;
    } catch (JacksonException e) {
      throw new UnreadableException("the body is not JSON: " + e.getOriginalMessage());
    }
  }

  private static Map<String, Object> fields(Route route, Request request)
      throws UnreadableException {
    Descriptor type = route.request().getDescriptorForType();
    Map<String, Object> fields = new LinkedHashMap<>();
    for (Map.Entry<String, List<String>> parameter : parameters(request.query()).entrySet()) {
      String name = parameter.getKey();
      List<String> values = parameter.getValue();
      boolean repeated = field(type, name).map(FieldDescriptor::isRepeated).orElse(false);
      if (!repeated && values.size() > 1) {
        throw new UnreadableException("the query: " + name + " is there more than once");
      }
      fields.put(name, repeated ? values : values.get(0));
    }
    if (!route.pathField().isEmpty()) {
      String rest = request.path().substring(route.path().length());
      // In a path a plus sign is one.
      if (fields.put(route.pathField(), decoded(PATH, rest.replace("+", "%2B"))) != null) {
        throw new UnreadableException("the query: " + route.pathField() + " is in the path");
      }
    }
    Optional<String> seen = request.header(LAST_EVENT_ID).filter(id -> !id.isEmpty());
    if (route.streams() && seen.isPresent()) {
      fields.put(START_REVISION, seen.get());
    }
    return fields;
  }

  private static Optional<FieldDescriptor> field(Descriptor type, String name) {
    return type.getFields().stream()
        .filter(field -> field.getJsonName().equals(name) || field.getName().equals(name))
        .findFirst();
  }

  private static Map<String, List<String>> parameters(String query) throws UnreadableException {
    Map<String, List<String>> parameters = new LinkedHashMap<>();
    for (String part : query.split("&", -1)) {
      if (!part.isEmpty()) {
        int equals = part.indexOf('=');
        String name = decoded(QUERY, equals < 0 ? part : part.substring(0, equals));
        String value = equals < 0 ? "" : decoded(QUERY, part.substring(equals + 1));
        parameters.computeIfAbsent(name, unused -> new ArrayList<>()).add(value);
      }
    }
    return parameters;
  }

  private static String decoded(String where, String text) throws UnreadableException {
    Matcher malformed = (where.equals(QUERY) ? MALFORMED_QUERY : MALFORMED_PATH).matcher(text);
    if (malformed.find()) {
      throw new UnreadableException(
          where
              + (malformed.group().equals("%")
                  ? " has a % that is not followed by two hexadecimal digits: "
                  : " has the character " + malformed.group() + ", which must be percent-encoded: ")
              + text);
    }
    // As Latin-1, each byte is a character.
    byte[] bytes = URLDecoder.decode(text, ISO_8859_1).getBytes(ISO_8859_1);
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new UnreadableException(where + " is not in UTF-8: " + text);
    }
  }
}
