package io.lockkeeper.server.web.api;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.json.JsonMapper;

/**
 * Describes the API over HTTP in the terms of OpenAPI 3.1, from the routes and from the contract
 * with its comments.
 */
final class OpenApi {

  private static final String SCHEMAS = "#/components/schemas/";
  private static final String PACKAGE = "lockkeeper.v1.";
  private static final String GOOGLES = "google.protobuf.";
  private static final Map<String, Object> DURATION =
      Map.of(
          "type", "string",
          "pattern", "^-?[0-9]+(\\.[0-9]+)?s$",
          "description", "Seconds, such as 1.5s.");

  private final Comments comments = new Comments();
  private final Map<String, Object> schemas = new TreeMap<>();

  private OpenApi() {}

  /**
   * Returns the description as JSON.
   *
   * @param version the server's version
   */
  static String json(String version) {
    return JsonMapper.builder().build().writeValueAsString(new OpenApi().describe(version));
  }

  private Map<String, Object> describe(String version) {
    Map<String, Map<String, Object>> paths = new LinkedHashMap<>();
    for (Route route : Routes.list()) {
      String rest = route.pathField().isEmpty() ? "" : "{" + route.pathField() + "}";
      paths
          .computeIfAbsent(route.path() + rest, path -> new LinkedHashMap<>())
          .put(route.post() ? "post" : "get", operation(route));
    }
    schemas.put("Error", error());
    Map<String, Object> description = new LinkedHashMap<>();
    description.put("openapi", "3.1.0");
    description.put(
        "info",
        Map.of(
            "title",
            "Lockkeeper over HTTP",
            "version",
            version,
            "description",
            "The calls of lockkeeper.v1 as JSON, by the mapping of Protocol Buffers: names in camelCase,"
                + " int64 as strings, fields that have their default value left out.",
            "license",
            Map.of("name", "Apache-2.0", "identifier", "Apache-2.0")));
    description.put("servers", List.of(Map.of("url", "/")));
    description.put(
        "security", List.of(Map.of(), Map.of("basic", List.of()), Map.of("bearer", List.of())));
    description.put("paths", paths);
    description.put("components", Map.of("schemas", schemas, "securitySchemes", securitySchemes()));
    return description;
  }

  private static Map<String, Object> securitySchemes() {
    return Map.of(
        "basic",
        Map.of(
            "type",
            "http",
            "scheme",
            "basic",
            "description",
            "Any user, the token as the password."),
        "bearer",
        Map.of("type", "http", "scheme", "bearer", "description", "The token."));
  }

  private Map<String, Object> operation(Route route) {
    Descriptor request = route.request().getDescriptorForType();
    Map<String, Object> operation = new LinkedHashMap<>();
    String call = route.call().getFullMethodName().replace('/', '.');
    operation.put("operationId", call.substring(PACKAGE.length()) + (route.post() ? "" : ".get"));
    operation.put("description", comments.of(call));
    operation.put("tags", List.of(String.valueOf(route.call().getServiceName())));
    if (route.post()) {
      operation.put(
          "requestBody", Map.of("required", true, "content", content("application/json", request)));
    } else {
      operation.put(
          "parameters", request.getFields().stream().map(f -> parameter(route, f)).toList());
    }
    operation.put("responses", responses(route));
    return operation;
  }

  private Map<String, Object> responses(Route route) {
    Map<String, Object> responses = new LinkedHashMap<>();
    responses.put(
        "200",
        Map.of(
            "description",
            route.streams()
                ? "Messages, one after the other, for as long as the connection lasts."
                : "Done.",
            "content",
            content(ApiCall.contentType(route), route.response().getDescriptorForType())));
    responses.put(
        "default",
        Map.of(
            "description",
            "The call failed; its status code decides that of HTTP.",
            "content",
            Map.of(Errors.JSON_TYPE, Map.of("schema", Map.of("$ref", SCHEMAS + "Error")))));
    return responses;
  }

  private Map<String, Object> content(String type, Descriptor message) {
    return Map.of(type, Map.of("schema", reference(message)));
  }

  private Map<String, Object> parameter(Route route, FieldDescriptor field) {
    boolean path = field.getJsonName().equals(route.pathField());
    Map<String, Object> parameter = new LinkedHashMap<>();
    parameter.put("name", field.getJsonName());
    parameter.put("in", path ? "path" : "query");
    parameter.put("required", path);
    parameter.put("description", comments.of(field.getFullName()));
    parameter.put("schema", type(field));
    return parameter;
  }

  private Map<String, Object> reference(Descriptor message) {
    if (!schemas.containsKey(message.getName())) {
      schemas.put(message.getName(), Map.of()); // It may contain itself.
      Map<String, Object> properties = new LinkedHashMap<>();
      for (FieldDescriptor field : message.getFields()) {
        properties.put(field.getJsonName(), property(field));
      }
      schemas.put(
          message.getName(),
          Map.of(
              "type",
              "object",
              "description",
              comments.of(message.getFullName()),
              "properties",
              properties));
    }
    return Map.of("$ref", SCHEMAS + message.getName());
  }

  private Map<String, Object> property(FieldDescriptor field) {
    Map<String, Object> property = new LinkedHashMap<>(type(field));
    property.put("description", comments.of(field.getFullName()));
    return property;
  }

  private Map<String, Object> type(FieldDescriptor field) {
    if (field.isMapField()) {
      return Map.of(
          "type",
          "object",
          "additionalProperties",
          single(field.getMessageType().findFieldByName("value")));
    }
    return field.isRepeated() ? Map.of("type", "array", "items", single(field)) : single(field);
  }

  private Map<String, Object> single(FieldDescriptor field) {
    return switch (field.getJavaType()) {
      case INT -> Map.of("type", "integer", "format", "int32");
      case LONG -> Map.of("type", "string", "format", "int64", "pattern", "^-?[0-9]+$");
      case FLOAT, DOUBLE -> Map.of("type", "number");
      case BOOLEAN -> Map.of("type", "boolean");
      case STRING -> Map.of("type", "string");
      case BYTE_STRING -> Map.of("type", "string", "format", "byte");
      case ENUM -> reference(field.getEnumType());
      case MESSAGE ->
          field.getMessageType().getFullName().startsWith(GOOGLES)
              ? DURATION
              : reference(field.getMessageType());
    };
  }

  private Map<String, Object> reference(EnumDescriptor type) {
    if (!schemas.containsKey(type.getName())) {
      StringBuilder description = new StringBuilder(comments.of(type.getFullName()));
      for (EnumValueDescriptor value : type.getValues()) {
        description.append("\n- ").append(value.getName()).append(": ");
        description.append(comments.of(type.getFile().getPackage() + "." + value.getName()));
      }
      schemas.put(
          type.getName(),
          Map.of(
              "type", "string",
              "description", description.toString(),
              "enum", type.getValues().stream().map(EnumValueDescriptor::getName).toList()));
    }
    return Map.of("$ref", SCHEMAS + type.getName());
  }

  private static Map<String, Object> error() {
    Map<String, Object> text = Map.of("type", "string");
    Map<String, Object> properties = new LinkedHashMap<>();
    properties.put("code", described(text, "The status code of gRPC, such as NOT_FOUND."));
    properties.put("message", described(text, "What is wrong, human-readable."));
    properties.put(
        "reason", described(text, "An ErrorReason without its prefix, where there is one."));
    properties.put("field", described(text, "The field of the request that is wrong."));
    properties.put("retryAfter", described(text, "After what time the same may succeed."));
    return Map.of(
        "type",
        "object",
        "description",
        "What went wrong.",
        "required",
        List.of("code", "message"),
        "properties",
        properties);
  }

  private static Map<String, Object> described(Map<String, Object> type, String description) {
    Map<String, Object> described = new LinkedHashMap<>(type);
    described.put("description", description);
    return described;
  }
}
