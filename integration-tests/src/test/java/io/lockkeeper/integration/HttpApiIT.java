package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lockkeeper.integration.harness.Asking;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.ServerProcess;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The contract as somebody with curl sees it. */
final class HttpApiIT {

  private final Rig rig = Rig.shared();
  private final ServerProcess server = rig.server();
  private final HttpClient client = HttpClient.newHttpClient();

  private String url(String path) {
    return "http://127.0.0.1:" + server.httpPort() + path;
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create(url(path))).build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> post(String path, String body)
      throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create(url(path))).POST(BodyPublishers.ofString(body)).build(),
        BodyHandlers.ofString());
  }

  private Process curl(String... arguments) throws IOException {
    try {
      String[] command = new String[arguments.length + 2];
      command[0] = "curl";
      command[1] = "-sN";
      System.arraycopy(arguments, 0, command, 2, arguments.length);
      return new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      Assumptions.abort("SKIPPED: no curl");
      throw e;
    }
  }

  private static BufferedReader linesOf(Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  @Test
  void curlHoldsALockUntilItIsEndedAndTheNextIsGranted() throws Exception {
    // Given
    Process holder =
        curl("-d", "{\"locks\":[{\"name\":\"http/1\"}],\"holder\":\"curl\"}", url("/v1/acquire"));
    assertThat(linesOf(holder).readLine()).contains("\"granted\"", "\"fencingToken\"");
    Asking waiter = Asking.forLock(rig.connect(), "http/1");
    waiter.await(EventCase.QUEUED);
    // When
    holder.destroy();
    // Then
    assertThat(waiter.awaitToken()).isPositive();
    waiter.hangUp();
  }

  @Test
  void lockIsListedShownWatchedAndReleased() throws Exception {
    // Given
    Process watch = curl(url("/v1/watch?prefix=http/2"));
    try {
      BufferedReader events = linesOf(watch);
      await().until(() -> String.valueOf(events.readLine()).contains("snapshotEnd"));
      Process holder = curl("-d", "{\"locks\":[{\"name\":\"http/2\"}]}", url("/v1/acquire"));
      String granted = linesOf(holder).readLine();
      // Then
      await().until(() -> String.valueOf(events.readLine()).contains("\"CHANGE_CAUSE_GRANTED\""));
      assertThat(get("/v1/locks?prefix=http/2").body()).contains("\"name\":\"http/2\"");
      assertThat(get("/v1/locks/http/2").body()).contains("\"holders\":[{");
      // When
      String body =
          "{\"leaseId\":\"%s\",\"requestId\":\"%s\"}"
              .formatted(field(granted, "leaseId"), field(granted, "requestId"));
      assertThat(post("/v1/release", body).body()).contains("RELEASE_OUTCOME_RELEASED");
      // Then
      assertThat(holder.waitFor(20, TimeUnit.SECONDS)).isTrue();
    } finally {
      watch.destroy();
    }
  }

  private static String field(String json, String name) {
    return json.replaceFirst(".*\"" + name + "\":\"([^\"]*)\".*", "$1");
  }

  @Test
  void refusalOfTheServiceIsAStatusOfHttp() throws Exception {
    HttpResponse<String> badName = post("/v1/acquire", "{\"locks\":[{\"name\":\"a/../b\"}]}");
    assertThat(badName.statusCode()).isEqualTo(400);
    assertThat(badName.body()).contains("INVALID_ARGUMENT", "locks[0].name", "INVALID_FIELD");
    HttpResponse<String> unknown =
        post("/v1/renew-lease", "{\"leaseId\":\"00112233445566778899aabbccddeeff\"}");
    assertThat(unknown.statusCode()).isEqualTo(404);
  }

  @Test
  void descriptionOfTheApiIsServed() throws Exception {
    assertThat(get("/v1/openapi.json").body()).contains("\"/v1/acquire\"", "\"openapi\":\"3.1.0\"");
  }

  @Test
  void hundredStreamsOfVisitorsWhoHaveGoneLeaveNothing() throws Exception {
    // Given
    for (int i = 0; i < 100; i++) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(url("/v1/acquire")))
              .POST(BodyPublishers.ofString("{\"locks\":[{\"name\":\"http/gone\"}]}"))
              .build();
      var coming = client.sendAsync(request, BodyHandlers.ofInputStream());
      try {
        // Whoever is answered, in whatever way, goes at once.
        coming.get(20, TimeUnit.SECONDS).body().close();
      } catch (TimeoutException e) {
        coming.cancel(true);
      }
    }
    // Then
    await()
        .untilAsserted(
            () -> assertThat(get("/v1/locks?prefix=http/gone").body().trim()).isEqualTo("{}"));
  }
}
