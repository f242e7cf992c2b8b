package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.channelz.v1.ChannelzGrpc;
import io.grpc.health.v1.HealthGrpc;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is true of every method, whichever it is. */
class EveryMethodTest {

  @AutoClose
  private final SecuredServer secured =
      new SecuredServer(
          new SomeRights()
              .give("token:shop", "", Right.READ, Right.ACQUIRE)
              .give("token:root", "", Right.values()));

  static Stream<String> contract() {
    return Stream.of(
            LockServiceGrpc.getServiceDescriptor(),
            LeaseServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor())
        .flatMap(service -> service.getMethods().stream())
        .map(MethodDescriptor::getFullMethodName);
  }

  /** Sends a method one empty message. Returns how it ends, or OK as soon as it says anything. */
  private static Code answer(Channel channel, String method) {
    CompletableFuture<Code> answer = new CompletableFuture<>();
    ClientCall<byte[], byte[]> call =
        channel.newCall(
            MethodDescriptor.newBuilder(RawBytes.MARSHALLER, RawBytes.MARSHALLER)
                .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                .setFullMethodName(method)
                .build(),
            CallOptions.DEFAULT);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(byte[] message) {
            answer.complete(Code.OK);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            answer.complete(status.getCode());
          }
        },
        new Metadata());
    call.request(1);
    call.sendMessage(new byte[0]);
    call.halfClose();
    Code code = answer.orTimeout(60, TimeUnit.SECONDS).join();
    call.cancel("it has answered", null);
    return code;
  }

  private Channel as(String who) {
    return ClientInterceptors.intercept(
        secured.server.channel, SecuredServer.header("authorization", "Bearer t-" + who));
  }

  @ParameterizedTest
  @MethodSource("contract")
  void methodOfTheContractIsServed(String method) {
    assertThat(answer(as("root"), method))
        .isNotIn(Code.UNIMPLEMENTED, Code.UNKNOWN, Code.INTERNAL, Code.UNAUTHENTICATED);
  }

  @Test
  void methodThatIsNotInTheContractIsNot() {
    assertThat(answer(as("root"), LockServiceGrpc.SERVICE_NAME + "/NoSuchMethod"))
        .isEqualTo(Code.UNIMPLEMENTED);
  }

  @Test
  void nothingButHealthIsToldToWhomNobodyKnows() {
    // Given
    List<String> methods = secured.server.methods();
    // When
    Map<String, Code> answers = new HashMap<>();
    methods.stream()
        .filter(method -> !method.startsWith(HealthGrpc.SERVICE_NAME + "/"))
        .forEach(method -> answers.put(method, answer(secured.server.channel, method)));
    // Then
    assertThat(methods)
        .containsAll(contract().toList())
        .anyMatch(method -> method.startsWith("grpc.reflection."))
        .anyMatch(method -> method.startsWith(ChannelzGrpc.SERVICE_NAME));
    assertThat(answers)
        .allSatisfy((method, code) -> assertThat(code).isEqualTo(Code.UNAUTHENTICATED));
  }

  @Test
  void connectionsAreShownToOperatorsOnly() {
    // Given
    String method = ChannelzGrpc.getGetServersMethod().getFullMethodName();
    // When
    Code client = answer(as("shop"), method);
    Code operator = answer(as("root"), method);
    // Then
    assertThat(client).isEqualTo(Code.PERMISSION_DENIED);
    assertThat(operator).isEqualTo(Code.OK);
  }
}
