package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.v1.AcquireResponse.EventCase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The contract over HTTP. */
@Tag("smoke")
final class HttpApiIT {

  private final Rig rig = Rig.shared();
  private final HttpClient client = HttpClient.newHttpClient();

  private HttpRequest.Builder at(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + rig.server().httpPort() + path));
  }

  private HttpRequest posting(String path, String body) {
    return at(path).POST(BodyPublishers.ofString(body)).build();
  }

  private static String acquire(String lock) {
    return "{\"locks\":[{\"name\":\"" + lock + "\"}],\"holder\":\"http\"}";
  }

  private String get(String path) throws IOException, InterruptedException {
    return client.send(at(path).build(), BodyHandlers.ofString()).body();
  }

  private HttpResponse<String> post(String path, String body)
      throws IOException, InterruptedException {
    return client.send(posting(path, body), BodyHandlers.ofString());
  }

  /** Starts a response that is a stream of lines. To close the reader is to hang up. */
  private BufferedReader stream(HttpRequest request) throws IOException, InterruptedException {
    return new BufferedReader(
        new InputStreamReader(
            client.send(request, BodyHandlers.ofInputStream()).body(), StandardCharsets.UTF_8));
  }

  @Test
  void streamHoldsALockUntilItsClientHangsUpAndTheNextIsGranted() throws Exception {
    // Given
    Asking waiter;
    try (BufferedReader holder = stream(posting("/v1/acquire", acquire("http/1")))) {
      assertThat(holder.readLine()).contains("\"granted\"", "\"fencingToken\"");
      waiter = Asking.forLock(rig.connect(), "http/1");
      waiter.await(EventCase.QUEUED);
      // When: the stream is closed
    }
    // Then
    assertThat(waiter.awaitToken()).isPositive();
    waiter.hangUp();
  }

  @Test
  void lockIsListedShownWatchedAndReleased() throws Exception {
    // Given
    try (BufferedReader events = stream(at("/v1/watch?prefix=http/2").build())) {
      await().until(() -> String.valueOf(events.readLine()).contains("snapshotEnd"));
      try (BufferedReader holder = stream(posting("/v1/acquire", acquire("http/2")))) {
        final String granted = holder.readLine();
        // Then
        await().until(() -> String.valueOf(events.readLine()).contains("CHANGE_CAUSE_GRANTED"));
        assertThat(get("/v1/locks?prefix=http/2")).contains("\"name\":\"http/2\"");
        assertThat(get("/v1/locks/http/2")).contains("\"holders\":[{");
        // When
        String body =
            "{\"leaseId\":\"%s\",\"requestId\":\"%s\"}"
                .formatted(field(granted, "leaseId"), field(granted, "requestId"));
        assertThat(post("/v1/release", body).body()).contains("RELEASE_OUTCOME_RELEASED");
        // Then: the stream ends
        assertThat(holder.lines()).last().asString().contains("\"released\"");
      }
    }
  }

  private static String field(String json, String name) {
    return json.replaceFirst(".*\"" + name + "\":\"([^\"]*)\".*", "$1");
  }

  @Test
  void refusalOfTheServiceIsAStatusOfHttp() throws Exception {
    HttpResponse<String> badName = post("/v1/acquire", acquire("a/../b"));
    assertThat(badName.statusCode()).isEqualTo(400);
    assertThat(badName.body()).contains("INVALID_ARGUMENT", "locks[0].name", "INVALID_FIELD");
    HttpResponse<String> unknown =
        post("/v1/renew-lease", "{\"leaseId\":\"00112233445566778899aabbccddeeff\"}");
    assertThat(unknown.statusCode()).isEqualTo(404);
  }

  @Test
  void descriptionOfTheApiIsServed() throws Exception {
    assertThat(get("/v1/openapi.json")).contains("\"/v1/acquire\"", "\"openapi\":\"3.1.0\"");
  }

  @Test
  void hundredStreamsOfVisitorsWhoHaveGoneLeaveNothing() throws Exception {
    // When: each hangs up as soon as it is answered
    for (int i = 0; i < 100; i++) {
      stream(posting("/v1/acquire", acquire("http/gone"))).close();
    }
    // Then
    await()
        .untilAsserted(() -> assertThat(get("/v1/locks?prefix=http/gone").trim()).isEqualTo("{}"));
  }
}
