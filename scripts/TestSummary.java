import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Prints how many tests a Maven build ran, which failed, which were skipped and why, from the reports that Surefire and
 * Failsafe wrote below the current directory: {@code java scripts/TestSummary.java SINCE [SLOWEST]}. Only reports newer than
 * the file SINCE count. SLOWEST is how many of the slowest classes to list, with their seconds. Exits with 1 if there is no
 * report.
 */
final class TestSummary {

  private int tests;
  private int failed;
  private double seconds;
  private final Map<String, List<String>> skipped = new TreeMap<>();
  private final List<Map.Entry<Double, String>> classes = new ArrayList<>();

  public static void main(String[] arguments) throws Exception {
    FileTime since = Files.getLastModifiedTime(Path.of(arguments[0]));
    TestSummary summary = new TestSummary();
    for (Path file : reports()) {
      if (Files.getLastModifiedTime(file).compareTo(since) > 0) {
        summary.read(file);
      }
    }
    summary.print(arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0);
    System.exit(summary.tests > 0 ? 0 : 1);
  }

  /** Looks below the modules only: other processes can change the rest of the tree. */
  private static List<Path> reports() throws IOException {
    List<Path> found = new ArrayList<>();
    Files.walkFileTree(Path.of(""), new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
        String name = directory.getFileName().toString();
        boolean inTarget = directory.getNameCount() > 1 && directory.getName(directory.getNameCount() - 2).endsWith("target");
        boolean wanted = inTarget ? name.endsWith("-reports") : !name.matches("\\.git|src|build|node_modules");
        return wanted && !directory.equals(Path.of("target")) ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
      }

      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        if (file.toString().matches(".*/target/(surefire|failsafe)-reports/TEST-[^/]*\\.xml")) {
          found.add(file);
        }
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFileFailed(Path file, IOException gone) {
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult postVisitDirectory(Path directory, IOException gone) {
        return FileVisitResult.CONTINUE;
      }
    });
    found.sort(Comparator.naturalOrder());
    return found;
  }

  private void read(Path file) throws Exception {
    Element suite = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile()).getDocumentElement();
    tests += Integer.parseInt(suite.getAttribute("tests"));
    double time = Double.parseDouble(suite.getAttribute("time").replace(",", ""));
    seconds += time;
    classes.add(Map.entry(time, suite.getAttribute("name")));
    NodeList cases = suite.getElementsByTagName("testcase");
    boolean hasFailed = false;
    for (int i = 0; i < cases.getLength(); i++) {
      Element test = (Element) cases.item(i);
      String name = simple(test.getAttribute("classname")) + "." + test.getAttribute("name");
      if (test.getElementsByTagName("failure").getLength() + test.getElementsByTagName("error").getLength() > 0) {
        failed++;
        hasFailed = true;
        System.out.println("FAILED: " + name);
      }
      NodeList reasons = test.getElementsByTagName("skipped");
      if (reasons.getLength() > 0) {
        String reason = ((Element) reasons.item(0)).getAttribute("message");
        skipped.computeIfAbsent(reason, unused -> new ArrayList<>()).add(name);
      }
    }
    if (hasFailed) {
      printOutput(file);
    }
  }

  /** Prints the last 60 lines that a failed class wrote, if they went to a file. */
  private static void printOutput(Path report) throws IOException {
    String name = report.getFileName().toString().replaceFirst("^TEST-(.*)\\.xml$", "$1-output.txt");
    Path output = report.resolveSibling(name);
    if (Files.exists(output)) {
      List<String> lines = Files.readAllLines(output);
      lines.subList(Math.max(0, lines.size() - 60), lines.size()).forEach(line -> System.out.println("  | " + line));
    }
  }

  private static String simple(String className) {
    return className.substring(className.lastIndexOf('.') + 1);
  }

  private void print(int slowest) {
    classes.sort(Map.Entry.comparingByKey(Comparator.reverseOrder()));
    classes.stream().limit(slowest).forEach(c -> System.out.printf(Locale.ROOT, "%8.1f s  %s%n", c.getKey(), c.getValue()));
    skipped.forEach((reason, names) -> System.out.println("SKIPPED " + names.size() + ": " + names.get(0) + ": " + reason));
    int count = skipped.values().stream().mapToInt(List::size).sum();
    System.out.printf(Locale.ROOT, "Tests run: %,d, failed: %d, skipped: %d, in %d classes and %.0f s of test time.%n",
        tests - count, failed, count, classes.size(), seconds);
  }
}
