package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.lockkeeper.v1.AcquireRequest;
import io.lockkeeper.v1.Grant;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class ReflectionAnswersTest {

  @AutoClose private final InProcess server = new InProcess();

  @Test
  void reflectionTellsTheJsonNameOfEveryField() throws Exception {
    // Given
    Received<ServerReflectionRequest, ServerReflectionResponse> client = Received.all();
    var requests = ServerReflectionGrpc.newStub(server.channel).serverReflectionInfo(client);
    // When
    requests.onNext(
        ServerReflectionRequest.newBuilder()
            .setFileContainingSymbol(Grant.getDescriptor().getFullName())
            .build());
    FileDescriptorProto file =
        FileDescriptorProto.parseFrom(
            client.next().getFileDescriptorResponse().getFileDescriptorProto(0));
    // Then
    List<FieldDescriptorProto> fields =
        file.getMessageTypeList().stream()
            .map(DescriptorProto::getFieldList)
            .flatMap(List::stream)
            .toList();
    assertThat(fields).isNotEmpty().allMatch(FieldDescriptorProto::hasJsonName);
    assertThat(fields)
        .extracting(FieldDescriptorProto::getJsonName)
        .contains("fencingToken", "holdCount", "notAcquired", "releaseRequested", "name");
    assertThat(fields)
        .filteredOn(field -> field.getName().equals("wait_timeout"))
        .extracting(FieldDescriptorProto::getJsonName)
        .containsExactly(
            AcquireRequest.getDescriptor().findFieldByName("wait_timeout").getJsonName());
    requests.onCompleted();
  }
}
