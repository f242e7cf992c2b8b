package io.lockkeeper.conformance.java;

import io.lockkeeper.client.LeaseLostException;
import io.lockkeeper.client.LockHandle;
import io.lockkeeper.client.LockListener;
import io.lockkeeper.client.LockRequest;
import io.lockkeeper.client.LockSpec;
import io.lockkeeper.client.LockkeeperClient;
import io.lockkeeper.client.LossReason;
import io.lockkeeper.client.NotAcquiredException;
import io.lockkeeper.client.ReleaseResult;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Takes commands from standard input and reports on standard output, one JSON object a line. */
public final class Driver {

  private static final JsonMapper JSON = new JsonMapper();

  private final Map<String, CompletableFuture<LockHandle>> requests = new HashMap<>();
  private final Map<String, LockHandle> handles = new ConcurrentHashMap<>();
  private final Set<String> lost = ConcurrentHashMap.newKeySet();
  private Optional<LockkeeperClient> client = Optional.empty();

  private Driver() {}

  /** Runs until standard input ends. */
  public static void main(String[] args) throws IOException {
    Driver driver = new Driver();
    try (BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      commands.lines().map(JSON::readTree).forEach(driver::on);
    }
    System.exit(0);
  }

  /** Returns the command of {@code sh} that starts this program with the class path of this JVM. */
  public static String command() {
    return String.join(
        " ",
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp",
        System.getProperty("java.class.path"),
        Driver.class.getName());
  }

  private void on(JsonNode command) {
    String id = command.path("id").asString("");
    switch (command.path("do").asString("")) {
      case "open" -> open(command);
      case "acquire" -> acquire(id, command);
      case "release" -> release(id);
      case "holding" -> holding(id);
      case "close" -> close();
      default -> throw new IllegalArgumentException("no such command: " + command);
    }
  }

  private void open(JsonNode command) {
    client =
        Optional.of(
            LockkeeperClient.builder(String.join(",", strings(command.path("servers"))))
                .ttl(Duration.ofMillis(command.path("ttl_ms").asLong()))
                .requestTimeout(Duration.ofMinutes(1))
                .build());
  }

  private void acquire(String id, JsonNode command) {
    LockRequest request =
        LockRequest.of(strings(command.path("locks")).stream().map(LockSpec::exclusive).toList())
            .listener(new Reports(id));
    if (command.has("wait_ms")) {
      request = request.waitAtMost(Duration.ofMillis(command.path("wait_ms").asLong()));
    }
    if (command.has("keep_ms")) {
      request = request.keepUnused(Duration.ofMillis(command.path("keep_ms").asLong()));
    }
    CompletableFuture<LockHandle> granted = client.orElseThrow().acquire(request);
    requests.put(id, granted);
    CompletableFuture<LockHandle> unused =
        granted.whenComplete(
            (handle, failure) -> {
              if (failure != null) {
                report("not_acquired", id, Map.of("reason", reason(failure)));
              }
            });
  }

  private static String reason(Throwable failure) {
    if (failure instanceof NotAcquiredException e) {
      return e.reason().name();
    }
    if (failure instanceof LeaseLostException e) {
      return e.reason().name();
    }
    return failure.toString();
  }

  private void release(String id) {
    LockHandle handle = handles.get(id);
    if (handle == null) {
      Optional.ofNullable(requests.get(id)).ifPresent(request -> request.cancel(false));
    } else {
      CompletableFuture<Void> unused =
          handle.releaseForResult().thenAccept(result -> onReleased(id, result));
    }
  }

  /** A lock that was lost may be released, too; its end has been told by then. */
  private void onReleased(String id, ReleaseResult result) {
    if (!lost.contains(id)) {
      report("released", id, Map.of("outcome", result.outcome().name()));
    }
  }

  private void holding(String id) {
    LockHandle handle = handles.get(id);
    report("holding", id, Map.of("holding", handle != null && handle.isValid()));
  }

  /** Closing waits for the server: meanwhile there are questions to be answered. */
  private void close() {
    new Thread(
            () -> {
              client.orElseThrow().close();
              report("closed", "", Map.of());
            },
            "conformance-close")
        .start();
  }

  private final class Reports implements LockListener {
    private final String id;

    Reports(String id) {
      this.id = id;
    }

    @Override
    public void onGranted(LockHandle handle) {
      handles.put(id, handle);
      List<String> tokens =
          handle.grants().stream().map(grant -> Long.toString(grant.fencingToken())).toList();
      report("granted", id, Map.of("tokens", tokens));
    }

    @Override
    public void onJeopardy(LockHandle handle, Duration validFor) {
      report("jeopardy", id, Map.of());
    }

    @Override
    public void onSafe(LockHandle handle, Duration validFor) {
      report("safe", id, Map.of());
    }

    @Override
    public void onLost(LockHandle handle, LossReason reason) {
      lost.add(id);
      report("lost", id, Map.of("reason", reason.name()));
    }
  }

  private static List<String> strings(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).map(JsonNode::asString).toList();
  }

  private static synchronized void report(String is, String id, Map<String, Object> more) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("is", is);
    line.put("id", id);
    line.putAll(more);
    System.out.println(JSON.writeValueAsString(line));
  }
}
