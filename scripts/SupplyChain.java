import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Checks what the jar is made of, as its bill of materials (CycloneDX, JSON) says: every part has a licence that is allowed, and none
 * is of a version with a vulnerability that we know of.
 *
 * <pre>java -cp cli/target/lockkeeper.jar scripts/SupplyChain.java BILL_OF_MATERIALS LICENSES ADVISORIES</pre>
 *
 * Says all that is wrong, and exits with 1 then.
 */
final class SupplyChain {

  /** A vulnerability: all versions below {@code fixedIn} of {@code part} have it. */
  private record Advisory(String id, String part, String fixedIn, String what) {}

  private static final String REVIEWED = "reviewed ";
  private static final long STALE_DAYS = 90;

  public static void main(String[] args) throws IOException {
    List<String> wrong = new ArrayList<>();
    int parts = 0;
    Set<String> licenses = new HashSet<>(lines(Path.of(args[1])));
    List<String> known = lines(Path.of(args[2]));
    List<Advisory> advisories =
        known.stream().filter(line -> !line.startsWith(REVIEWED)).map(SupplyChain::advisory).toList();
    warnIfStale(args[2], known);
    for (JsonNode part : JsonMapper.shared().readTree(Files.readString(Path.of(args[0]))).path("components")) {
      String name = part.path("group").asString() + ":" + part.path("name").asString();
      String version = part.path("version").asString();
      parts++;
      List<String> has = licensesOf(part);
      if (has.stream().noneMatch(licenses::contains)) {
        wrong.add(name + " " + version + ": none of its licences " + has + " is in " + args[1]);
      }
      for (Advisory advisory : advisories) {
        if (advisory.part().equals(name) && isBelow(version, advisory.fixedIn())) {
          wrong.add(
              name + " " + version + ": " + advisory.id() + ", " + advisory.what() + "; fixed in " + advisory.fixedIn());
        }
      }
    }
    if (parts == 0) {
      wrong.add(args[0] + " names no parts");
    }
    wrong.forEach(System.err::println);
    if (!wrong.isEmpty()) {
      System.exit(1);
    }
    System.out.println(
        "supply chain: ok, " + parts + " parts, " + licenses.size() + " licences, " + advisories.size() + " advisories");
  }

  /** A list that nobody has looked at for long says little; that is no reason to refuse a build. */
  private static void warnIfStale(String file, List<String> lines) {
    LocalDate reviewed =
        lines.stream()
            .filter(line -> line.startsWith(REVIEWED))
            .map(line -> LocalDate.parse(line.substring(REVIEWED.length()).strip()))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException(file + " does not say when it was reviewed"));
    long days = ChronoUnit.DAYS.between(reviewed, LocalDate.now());
    if (days > STALE_DAYS) {
      System.err.println(
          "WARNING: " + file + " was reviewed " + days + " days ago: give the bill of materials to a scanner, and review it");
    }
  }

  private static List<String> lines(Path file) throws IOException {
    return Files.readAllLines(file).stream()
        .map(String::strip)
        .filter(line -> !line.isEmpty() && !line.startsWith("#"))
        .toList();
  }

  private static Advisory advisory(String line) {
    String[] fields = line.split("\\s+", 4);
    return new Advisory(fields[0], fields[1], fields[2], fields[3]);
  }

  private static List<String> licensesOf(JsonNode part) {
    List<String> names = new ArrayList<>();
    for (JsonNode choice : part.path("licenses")) {
      for (String field : List.of("id", "name")) {
        String name = choice.path("license").path(field).asString("");
        if (!name.isEmpty()) {
          names.add(name);
        }
      }
      String expression = choice.path("expression").asString("");
      names.addAll(expression.isEmpty() ? List.of() : List.of(expression.split(" OR ")));
    }
    return names;
  }

  /** Compares versions number by number; what is no number, such as a qualifier, is left out. */
  private static boolean isBelow(String version, String fixedIn) {
    List<Integer> left = numbers(version);
    List<Integer> right = numbers(fixedIn);
    for (int i = 0; i < right.size(); i++) {
      int own = i < left.size() ? left.get(i) : 0;
      if (own != right.get(i)) {
        return own < right.get(i);
      }
    }
    return false;
  }

  private static List<Integer> numbers(String version) {
    List<Integer> numbers = new ArrayList<>();
    for (String field : version.split("[.-]")) {
      if (!field.matches("\\d{1,9}")) {
        break;
      }
      numbers.add(Integer.parseInt(field));
    }
    return numbers;
  }
}
