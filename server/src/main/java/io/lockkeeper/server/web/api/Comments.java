package io.lockkeeper.server.web.api;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DescriptorProtos.ServiceDescriptorProto;
import com.google.protobuf.DescriptorProtos.SourceCodeInfo.Location;
import io.lockkeeper.v1.LockServiceGrpc;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** What the contract says in its comments, by the full names of what they stand above. */
final class Comments {

  private static final String CONTRACT = "/lockkeeper/v1/lockkeeper.binpb";

  private final Map<String, String> byName = new HashMap<>();

  /** Reads those of the contract that this program was built with. */
  Comments() {
    try (InputStream in =
        Objects.requireNonNull(LockServiceGrpc.class.getResourceAsStream(CONTRACT), CONTRACT)) {
      FileDescriptorSet.parseFrom(in).getFileList().forEach(this::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the comment of a message, a field, a call or a value; empty if it has none. */
  String of(String fullName) {
    return byName.getOrDefault(fullName, "");
  }

  private void add(FileDescriptorProto file) {
    for (Location location : file.getSourceCodeInfo().getLocationList()) {
      String name = name(file, location.getPathList());
      if (!name.isEmpty() && location.hasLeadingComments()) {
        byName.put(file.getPackage() + "." + name, inOneLine(location.getLeadingComments()));
      }
    }
  }

  private static String inOneLine(String comment) {
    return comment.strip().replaceAll("\\s*\\n\\s*", " ");
  }

  /** Returns the name below the file's package; the contract has no types within types. */
  private static String name(FileDescriptorProto file, List<Integer> path) {
    if (path.size() == 2) {
      int i = path.get(1);
      return switch (path.get(0)) {
        case FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER -> file.getMessageType(i).getName();
        case FileDescriptorProto.ENUM_TYPE_FIELD_NUMBER -> file.getEnumType(i).getName();
        case FileDescriptorProto.SERVICE_FIELD_NUMBER -> file.getService(i).getName();
        default -> "";
      };
    }
    return path.size() == 4 ? member(file, path) : "";
  }

  private static String member(FileDescriptorProto file, List<Integer> path) {
    int outer = path.get(1);
    int what = path.get(2);
    int inner = path.get(3);
    return switch (path.get(0)) {
      case FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER -> {
        DescriptorProto message = file.getMessageType(outer);
        yield what == DescriptorProto.FIELD_FIELD_NUMBER
            ? message.getName() + "." + message.getField(inner).getName()
            : "";
      }
      case FileDescriptorProto.ENUM_TYPE_FIELD_NUMBER -> {
        // Values are named beside their type, and not in it.
        EnumDescriptorProto values = file.getEnumType(outer);
        yield what == EnumDescriptorProto.VALUE_FIELD_NUMBER
            ? values.getValue(inner).getName()
            : "";
      }
      case FileDescriptorProto.SERVICE_FIELD_NUMBER -> {
        ServiceDescriptorProto service = file.getService(outer);
        yield what == ServiceDescriptorProto.METHOD_FIELD_NUMBER
            ? service.getName() + "." + service.getMethod(inner).getName()
            : "";
      }
      default -> "";
    };
  }
}
