package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.grpc.Attributes;
import io.grpc.CallCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.lockkeeper.client.internal.transport.BearerToken;
import io.lockkeeper.v1.GetLockRequest;
import io.lockkeeper.v1.GetLockResponse;
import io.lockkeeper.v1.LockServiceGrpc;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BearerTokenTest {

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  /** What becomes of a call. */
  private static final class Applied extends CallCredentials.MetadataApplier {
    private Optional<String> sent = Optional.empty();
    private Status failure = Status.OK;

    @Override
    public void apply(Metadata headers) {
      sent = Optional.ofNullable(headers.get(AUTHORIZATION));
    }

    @Override
    public void fail(Status status) {
      failure = status;
    }
  }

  private static Applied apply(Supplier<String> token, SecurityLevel level, String remote) {
    return apply(token, level, remote, remote + ":7420");
  }

  private static Applied apply(
      Supplier<String> token, SecurityLevel level, String remote, String authority) {
    Applied applied = new Applied();
    new BearerToken(token)
        .applyRequestMetadata(
            new CallCredentials.RequestInfo() {
              @Override
              public MethodDescriptor<?, ?> getMethodDescriptor() {
                return LockServiceGrpc.getGetLockMethod();
              }

              @Override
              public SecurityLevel getSecurityLevel() {
                return level;
              }

              @Override
              public String getAuthority() {
                return authority;
              }

              @Override
              public Attributes getTransportAttrs() {
                SocketAddress address = new InetSocketAddress(remote, 7420);
                return Attributes.newBuilder()
                    .set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, address)
                    .build();
              }
            },
            Runnable::run,
            applied);
    return applied;
  }

  @Test
  void tokenGoesOutOverTls() {
    // When
    Applied applied = apply(() -> "t0ken", SecurityLevel.PRIVACY_AND_INTEGRITY, "10.0.0.1");
    // Then
    assertThat(applied.sent).contains("Bearer t0ken");
  }

  @Test
  void tokenIsNotSentInPlaintextToAnotherMachine() {
    // When
    Applied applied = apply(() -> "t0ken", SecurityLevel.NONE, "10.0.0.1");
    // Then
    assertThat(applied.sent).isEmpty();
    assertThat(applied.failure.getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
    assertThat(applied.failure.getDescription()).contains("use TLS");
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1:7420", "localhost:7420", "[::1]:7420"})
  void tokenGoesOutInPlaintextWithinTheMachine(String authority) {
    // When
    Applied applied = apply(() -> "t0ken", SecurityLevel.NONE, "127.0.0.1", authority);
    // Then
    assertThat(applied.sent).contains("Bearer t0ken");
  }

  @Test
  void tokenIsNotSentInPlaintextToAnotherMachineThroughAProxyOnThisOne() {
    // When
    Applied applied = apply(() -> "t0ken", SecurityLevel.NONE, "127.0.0.1", "db.example:7420");
    // Then
    assertThat(applied.sent).isEmpty();
    assertThat(applied.failure.getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "two words", "line\nend", "ümlaut"})
  void tokenThatIsNoneIsNotSentAndNotQuoted(String token) {
    // When
    Applied applied = apply(() -> token, SecurityLevel.NONE, "127.0.0.1");
    // Then
    assertThat(applied.sent).isEmpty();
    assertThat(applied.failure.getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
    assertThat(applied.failure.getDescription()).doesNotContain("words", "end", "ml");
  }

  @Test
  void tokenThatCannotBeHadNowIsAskedForAgain() {
    // When
    Applied applied =
        apply(
            () -> {
              throw new IllegalStateException("no file");
            },
            SecurityLevel.PRIVACY_AND_INTEGRITY,
            "10.0.0.1");
    // Then: a code with which the client tries again
    assertThat(applied.failure.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(applied.failure.getDescription()).contains("no file");
  }

  @Test
  void everyCallBringsTheTokenOfTheMoment() throws Exception {
    // Given
    List<String> heard = Collections.synchronizedList(new ArrayList<>());
    Server server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(new Locks())
            .intercept(
                new ServerInterceptor() {
                  @Override
                  public <Q, R> ServerCall.Listener<Q> interceptCall(
                      ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
                    heard.add(String.valueOf(headers.get(AUTHORIZATION)));
                    return next.startCall(call, headers);
                  }
                })
            .build()
            .start();
    Queue<String> tokens = new ArrayDeque<>(List.of("first", "second"));
    // When
    try (LockkeeperClient client =
        LockkeeperClient.builder("127.0.0.1:" + server.getPort())
            .bearerToken(tokens::remove)
            .build()) {
      var first = client.getLock("a");
      var second = client.getLock("a");
      assertThat(second).isEqualTo(first);
    } finally {
      server.shutdownNow();
    }
    // Then
    assertThat(heard).containsExactly("Bearer first", "Bearer second");
  }

  private static final class Locks extends LockServiceGrpc.LockServiceImplBase {
    @Override
    public void getLock(GetLockRequest request, StreamObserver<GetLockResponse> response) {
      response.onNext(GetLockResponse.getDefaultInstance());
      response.onCompleted();
    }
  }

  @Test
  void channelsBringTheirOwnCredentials() {
    // When // Then
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                LockkeeperClient.builder("a")
                    .bearerToken(() -> "t")
                    .channels(
                        address -> {
                          throw new AssertionError(address);
                        })
                    .build())
        .withMessageContaining("bearerToken and channels do not go together");
  }
}
