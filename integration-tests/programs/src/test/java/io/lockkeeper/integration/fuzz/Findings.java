package io.lockkeeper.integration.fuzz;

import io.grpc.Status;
import io.grpc.Status.Code;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/** What went wrong in a run, each with what brings it about, and how calls ended. */
final class Findings {

  private static final int MOST = 50;
  private static final int MOST_HEX_BYTES = 2_000;
  private static final Set<Code> FAULTS = Set.of(Code.INTERNAL, Code.UNKNOWN, Code.DATA_LOSS);
  private static final Set<Integer> FAULT_NUMBERS =
      Set.of(Code.INTERNAL.value(), Code.UNKNOWN.value(), Code.DATA_LOSS.value());

  private final long seed;
  private final List<String> found = new ArrayList<>();
  private final List<String> disturbances = new ArrayList<>();
  private final Set<String> secrets = ConcurrentHashMap.newKeySet();
  private final Set<String> keys = ConcurrentHashMap.newKeySet();
  private final ConcurrentMap<String, LongAdder> ends = new ConcurrentHashMap<>();
  private final AtomicLong more = new AtomicLong();

  Findings(long seed) {
    this.seed = seed;
  }

  /** From now on no attacker may be told this, but operators. */
  void keepSecret(String secret) {
    secrets.add(secret);
  }

  /** From now on nobody may be told this, operators included. */
  void keepToItsOwner(String key) {
    keys.add(key);
  }

  /** Keeps something that should not be. */
  synchronized void add(String what) {
    if (found.size() < MOST) {
      found.add(what + " (seed " + seed + ")");
    } else {
      more.incrementAndGet();
    }
  }

  /** Adds something that a witness noticed and that a takeover of its lease explains. */
  synchronized void addDisturbance(String what) {
    if (disturbances.size() < MOST) {
      disturbances.add(what + " (seed " + seed + ")");
    }
  }

  /** Looks at one message that an attacker was sent. */
  void onMessage(
      Rpc rpc, boolean toOperator, byte[] message, List<Integer> refusals, byte[] request) {
    checkSecrets(rpc, toOperator, new String(message, StandardCharsets.UTF_8), request);
    for (int code : refusals) {
      ends.computeIfAbsent("refused " + Status.fromCodeValue(code).getCode(), x -> new LongAdder())
          .increment();
      if (FAULT_NUMBERS.contains(code)) {
        add(rpc.name() + " refused with code " + code + printed(request));
      }
    }
  }

  /** Looks at how a call of an attacker ended. */
  void onEnd(Rpc rpc, boolean toOperator, Status status, byte[] request) {
    ends.computeIfAbsent(status.getCode().name(), code -> new LongAdder()).increment();
    String description = String.valueOf(status.getDescription());
    checkSecrets(rpc, toOperator, description, request);
    if (FAULTS.contains(status.getCode())) {
      add(rpc.name() + " ended with " + status.getCode() + ": " + description + printed(request));
    }
  }

  private void checkSecrets(Rpc rpc, boolean toOperator, String text, byte[] request) {
    Stream.concat(keys.stream(), toOperator ? Stream.empty() : secrets.stream())
        .filter(text::contains)
        .forEach(secret -> add(rpc.name() + " told '" + secret + "'" + printed(request)));
  }

  private static String printed(byte[] request) {
    int length = Math.min(request.length, MOST_HEX_BYTES);
    return ", " + request.length + " bytes: " + HexFormat.of().formatHex(request, 0, length);
  }

  /** Returns how many calls ended how, and how many requests were refused on streams. */
  Map<String, Long> ends() {
    Map<String, Long> counts = new TreeMap<>();
    ends.forEach((code, count) -> counts.put(code, count.sum()));
    return counts;
  }

  /** Returns what was found, the first of it. */
  synchronized List<String> all() {
    List<String> all = new ArrayList<>(found);
    if (more.get() > 0) {
      all.add("and " + more.get() + " more");
    }
    return all;
  }

  /** Returns the first disturbances of witnesses. */
  synchronized List<String> disturbances() {
    return List.copyOf(disturbances);
  }
}
