package io.lockkeeper.integration.fuzz;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.EnumDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType;
import com.google.protobuf.Descriptors.OneofDescriptor;
import com.google.protobuf.Duration;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.UnknownFieldSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Makes requests from nothing but their descriptors: good ones, odd ones and broken ones. */
final class RequestMaker {

  private static final Set<String> MOSTLY_SET =
      Set.of("name", "locks", "lease_id", "request_id", "requests", "needs", "names", "lease");
  private static final int DEEPEST = 4;
  private static final int MANY = 10_000;
  private static final int ALL = 100;
  private static final int SOME = 33;
  private static final int FEW = 12;

  private final Random random;
  private final Words words;
  private final Damage damage;

  RequestMaker(Random random, Words words) {
    this.random = random;
    this.words = words;
    this.damage = new Damage(random);
  }

  /** Returns one request as bytes that nothing is wrong with but perhaps what it asks for. */
  byte[] good(Descriptor type) {
    return message(type, 0, 0).toByteArray();
  }

  /** Returns one request as bytes. */
  byte[] request(Descriptor type) {
    int kind = random.nextInt(1_000);
    if (kind < 620) {
      return good(type);
    }
    if (kind < 800) {
      return message(type, SOME, 0).toByteArray();
    }
    if (kind < 850) {
      return message(type, ALL, 0).toByteArray();
    }
    if (kind < 980) {
      return damage.some(message(type, FEW, 0).toByteArray());
    }
    if (kind < 985) {
      return many(type);
    }
    return kind < 993 ? damage.nested(type) : damage.noise();
  }

  /** Returns a message of which so many of a hundred fields are at some edge. */
  private DynamicMessage message(Descriptor type, int edgePercent, int depth) {
    DynamicMessage.Builder message = DynamicMessage.newBuilder(type);
    Set<FieldDescriptor> chosen = new HashSet<>();
    for (OneofDescriptor oneof : type.getRealOneofs()) {
      chosen.add(words.oneOf(oneof.getFields()));
    }
    for (FieldDescriptor field : type.getFields()) {
      boolean inOneof = field.getRealContainingOneof() != null;
      boolean set =
          inOneof
              ? chosen.contains(field)
              : words.chance(MOSTLY_SET.contains(field.getName()) || field.isMapField() ? 92 : 22);
      if (set && depth < DEEPEST) {
        put(message, field, edgePercent, depth);
      }
    }
    if (words.chance(edgePercent / 5)) {
      message.setUnknownFields(unknown());
    }
    return message.build();
  }

  private void put(
      DynamicMessage.Builder message, FieldDescriptor field, int edgePercent, int depth) {
    if (!field.isRepeated()) {
      message.setField(field, value(field, edgePercent, depth));
      return;
    }
    int count = 1 + (words.chance(15) ? random.nextInt(3) : 0);
    count = words.chance(edgePercent / 4) ? random.nextInt(40) : count;
    for (int i = 0; i < count; i++) {
      message.addRepeatedField(field, value(field, edgePercent, depth));
    }
  }

  private Object value(FieldDescriptor field, int edgePercent, int depth) {
    boolean edge = words.chance(edgePercent);
    return switch (field.getJavaType()) {
      case STRING -> edge ? words.edgeText() : words.text(field);
      case LONG -> edge ? words.edgeNumber() : words.number(field);
      case INT -> (int) (edge ? words.edgeNumber() : words.number(field));
      case BOOLEAN -> random.nextBoolean();
      case ENUM -> number(field.getEnumType(), edge);
      case FLOAT -> edge ? Float.NaN : random.nextFloat();
      case DOUBLE -> edge ? Double.NaN : random.nextDouble();
      case BYTE_STRING -> ByteString.copyFromUtf8(words.edgeText());
      case MESSAGE -> inner(field, edge, edgePercent, depth);
    };
  }

  private Object inner(FieldDescriptor field, boolean edge, int edgePercent, int depth) {
    if (field.getMessageType().equals(Duration.getDescriptor())) {
      return edge ? words.edgeDuration() : words.duration(field);
    }
    return message(field.getMessageType(), edgePercent, depth + 1);
  }

  private Object number(EnumDescriptor type, boolean edge) {
    return edge
        ? type.findValueByNumberCreatingIfUnknown((int) words.edgeNumber())
        : words.oneOf(type.getValues());
  }

  private UnknownFieldSet unknown() {
    UnknownFieldSet.Field field =
        UnknownFieldSet.Field.newBuilder()
            .addVarint(random.nextLong())
            .addLengthDelimited(ByteString.copyFromUtf8(words.edgeText()))
            .addFixed32(random.nextInt())
            .build();
    return UnknownFieldSet.newBuilder().addField(1 + random.nextInt(500_000_000), field).build();
  }

  /** Returns a message with more elements in a repeated field than anybody needs. */
  private byte[] many(Descriptor type) {
    List<FieldDescriptor> repeated =
        type.getFields().stream().filter(FieldDescriptor::isRepeated).toList();
    if (repeated.isEmpty()) {
      return message(type, ALL, 0).toByteArray();
    }
    DynamicMessage.Builder message = message(type, 0, 0).toBuilder();
    FieldDescriptor field = words.oneOf(repeated);
    Object element =
        field.getJavaType() == JavaType.MESSAGE
            ? DynamicMessage.getDefaultInstance(field.getMessageType())
            : value(field, 0, DEEPEST);
    for (int i = 0; i < MANY; i++) {
      message.addRepeatedField(field, element);
    }
    return message.build().toByteArray();
  }
}
