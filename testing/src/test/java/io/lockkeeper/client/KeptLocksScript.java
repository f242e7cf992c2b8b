package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.SessionRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** A client that keeps locks, and a server that says what a test says. */
@Timeout(60)
abstract class KeptLocksScript {

  static final String LOCK = "orders/42";
  static final Duration KEEP = Duration.ofSeconds(10);

  final ScriptedClient scripted = new ScriptedClient();
  final ScriptedServer server = scripted.server;
  final LockkeeperClient client = scripted.client;
  final Recording heard = new Recording();

  @BeforeEach
  final void start() {
    server.script(ScriptedServer::keepAlive);
  }

  @AfterEach
  final void stop() {
    scripted.close();
  }

  static LockRequest kept() {
    return LockRequest.of(LOCK).keepUnused(KEEP);
  }

  CompletableFuture<LockHandle> ask(LockRequest request) {
    CompletableFuture<LockHandle> asked = client.acquire(request);
    scripted.clock.settle();
    return asked;
  }

  void request(LockRequest request) {
    CompletableFuture<LockHandle> unused = ask(request);
  }

  static void give(LockHandle handle) {
    CompletableFuture<Void> unused = handle.releaseAsync();
  }

  List<AcquireRequest> asked() {
    return server.wishes().stream()
        .filter(SessionRequest::hasAcquire)
        .map(SessionRequest::getAcquire)
        .toList();
  }

  List<String> released() {
    scripted.clock.settle();
    return server.wishes().stream()
        .filter(SessionRequest::hasRelease)
        .map(wish -> wish.getRelease().getRequestId())
        .toList();
  }

  String lastId() {
    return asked().get(asked().size() - 1).getRequestId();
  }

  /** Has it asked for at the server, and granted. */
  LockHandle fetch(LockRequest request, long token, int waiters) {
    CompletableFuture<LockHandle> asked = ask(request);
    server.send(ScriptedServer.granted(lastId(), 1, request.name(), token, waiters));
    return asked.join();
  }

  LockHandle fetch(LockRequest request) {
    return fetch(request, 5, 0);
  }

  LockHandle now(CompletableFuture<LockHandle> future) {
    scripted.clock.settle();
    assertThat(future).isCompleted();
    return future.join();
  }

  static NotAcquiredReason reason(CompletableFuture<LockHandle> future) {
    assertThat(future).isCompletedExceptionally();
    Throwable why = future.handle((handle, failure) -> failure).join();
    return ((NotAcquiredException) why).reason();
  }
}
