package io.lockkeeper.server.web.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.lockkeeper.server.web.http.Request;
import java.net.URLDecoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/** Makes the request of a call out of one over HTTP: by the mapping of Protocol Buffers to JSON. */
final class RequestParser {

  private static final JsonMapper JSON = JsonMapper.builder().build();

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
        JsonFormat.parser().merge(request.body().isBlank() ? "{}" : request.body(), builder);
      } else {
        JsonFormat.parser().merge(JSON.writeValueAsString(fields(route, request)), builder);
      }
      return builder.build();
    } catch (InvalidProtocolBufferException e) {
      throw new UnreadableException(
          (route.post() ? "the body" : "the path or the query") + ": " + e.getMessage());
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
      fields.put(route.pathField(), decoded("the path", rest.replace("+", "%2B")));
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
        String name = decoded("the query", equals < 0 ? part : part.substring(0, equals));
        String value = equals < 0 ? "" : decoded("the query", part.substring(equals + 1));
        parameters.computeIfAbsent(name, unused -> new ArrayList<>()).add(value);
      }
    }
    return parameters;
  }

  private static String decoded(String where, String text) throws UnreadableException {
    try {
      return URLDecoder.decode(text, UTF_8);
    } catch (IllegalArgumentException e) {
      throw new UnreadableException(where + " is not percent-encoded as it should be: " + text);
    }
  }
}
