package io.lockkeeper.server.web.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The description of the API over HTTP. */
class OpenApiTest {

  private final JsonNode description = JsonMapper.builder().build().readTree(OpenApi.json("0.1.0"));

  private List<JsonNode> operations() {
    List<JsonNode> operations = new ArrayList<>();
    for (JsonNode path : description.get("paths")) {
      path.forEach(operations::add);
    }
    return operations;
  }

  @Test
  void everyRouteIsDescribedByTheContractsWords() {
    assertThat(operations())
        .hasSameSizeAs(Routes.list())
        .allSatisfy(
            operation ->
                assertThat(operation.get("description").asString())
                    .as(operation.toString())
                    .contains("Errors: "));
    assertThat(operations().stream().map(operation -> operation.get("operationId")))
        .doesNotHaveDuplicates();
  }

  @Test
  void everySchemaThatIsReferredToIsThereAndEveryFieldIsDescribed() {
    // When
    Set<String> referredTo = new HashSet<>();
    description.findValues("$ref").forEach(ref -> referredTo.add(ref.asString()));
    // Then
    JsonNode schemas = description.get("components").get("schemas");
    assertThat(referredTo)
        .contains("#/components/schemas/AcquireRequest", "#/components/schemas/Error")
        .allSatisfy(
            ref ->
                assertThat(schemas.get(ref.substring("#/components/schemas/".length())))
                    .as(ref)
                    .isNotNull());
    for (JsonNode schema : schemas) {
      assertThat(schema.get("description").asString()).isNotEmpty();
      for (JsonNode property : schema.path("properties")) {
        assertThat(property.get("description").asString()).as(schema.toString()).isNotEmpty();
      }
    }
  }

  @Test
  void typesAreThoseOfTheJsonMapping() {
    // When
    JsonNode schemas = description.get("components").get("schemas");
    JsonNode contender = schemas.get("Contender").get("properties");
    // Then
    assertThat(contender.get("fencingToken").get("type").asString()).isEqualTo("string");
    assertThat(contender.get("heldFor").get("pattern").asString()).contains("s$");
    assertThat(contender.get("metadata").get("additionalProperties").get("type").asString())
        .isEqualTo("string");
    assertThat(contender.get("mode").get("$ref").asString()).endsWith("/LockMode");
    assertThat(schemas.get("LockMode").get("enum").toString()).contains("LOCK_MODE_EXCLUSIVE");
    assertThat(schemas.get("AcquireRequest").get("properties").get("locks").get("type").asString())
        .isEqualTo("array");
  }
}
