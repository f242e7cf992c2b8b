package io.lockkeeper.integration.fuzz;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/**
 * What answers had in the fields that later requests need: ids of leases, secrets, tokens. Without
 * them no request would come far.
 */
final class Loot {

  private static final Set<String> WANTED =
      Set.of("lease_id", "lease_secret", "fencing_token", "next_page_token", "epoch");
  private static final int KEPT = 64;
  private static final int LARGEST_READ = 4_096;

  private final Map<String, List<Object>> values = new HashMap<>();
  private long kept;

  /** Returns a value that a field of that name had in some answer, if one had. */
  synchronized Optional<Object> find(String field, Random random) {
    List<Object> found = values.getOrDefault(field, List.of());
    return found.isEmpty()
        ? Optional.empty()
        : Optional.of(found.get(random.nextInt(found.size())));
  }

  /** Keeps a value for fields of that name. */
  synchronized void keep(String field, Object value) {
    List<Object> found = values.computeIfAbsent(field, name -> new ArrayList<>());
    if (found.size() < KEPT) {
      found.add(value);
    } else {
      found.set((int) (kept++ % KEPT), value);
    }
  }

  /** Keeps what an answer has, and returns the codes of the refusals in it. */
  List<Integer> take(Descriptor type, byte[] answer) {
    List<Integer> refusals = new ArrayList<>();
    if (answer.length <= LARGEST_READ) {
      try {
        take(DynamicMessage.parseFrom(type, ByteString.copyFrom(answer)), refusals);
      } catch (InvalidProtocolBufferException e) {
        throw new IllegalStateException("an answer is no " + type.getFullName(), e);
      }
    }
    return refusals;
  }

  private void take(Message message, List<Integer> refusals) {
    boolean refused = message.getDescriptorForType().getName().equals("Refused");
    for (Map.Entry<FieldDescriptor, Object> entry : message.getAllFields().entrySet()) {
      FieldDescriptor field = entry.getKey();
      if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
        List<?> all = field.isRepeated() ? (List<?>) entry.getValue() : List.of(entry.getValue());
        all.forEach(inner -> take((Message) inner, refusals));
      } else if (refused && field.getName().equals("code")) {
        refusals.add((Integer) entry.getValue());
      } else if (!field.isRepeated() && WANTED.contains(field.getName())) {
        keep(field.getName().replace("next_", ""), entry.getValue());
      }
    }
  }
}
