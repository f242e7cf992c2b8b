package io.lockkeeper.integration.outages;

import io.lockkeeper.integration.failover.Seat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What coordinators have logged at WARN and above since this was made. */
final class Logs {

  /** A line without its time and its values. */
  private static final Pattern LINE =
      Pattern.compile("^\\S+ (WARN|ERROR) +(\\S+: .*?)(?: \\w+=\".*)?$", Pattern.MULTILINE);

  private static final int SHORT = 70;

  private final Map<Seat, String> before = new LinkedHashMap<>();

  Logs(List<Seat> seats) {
    seats.forEach(seat -> before.put(seat, seat.process().output()));
  }

  /** Returns each line once, shortened, with how often it came. */
  String since() {
    Map<String, Integer> counts = new TreeMap<>();
    before.forEach(
        (seat, old) -> {
          String now = seat.process().output();
          // Another process may be there by now.
          Matcher line = LINE.matcher(now.startsWith(old) ? now.substring(old.length()) : now);
          while (line.find()) {
            counts.merge(line.group(1) + " " + shortened(line.group(2)), 1, Integer::sum);
          }
        });
    return counts.entrySet().stream()
        .map(entry -> entry.getValue() + " x " + entry.getKey())
        .collect(Collectors.joining("; "));
  }

  private static String shortened(String message) {
    String text = message.strip().replace('|', '/');
    return text.length() <= SHORT ? text : text.substring(0, SHORT) + "...";
  }
}
