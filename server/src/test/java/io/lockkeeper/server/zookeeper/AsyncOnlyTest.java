package io.lockkeeper.server.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No synchronous call of ZooKeeper's client is in the byte code of what we ship. */
final class AsyncOnlyTest {

  private static final Pattern CALL =
      Pattern.compile(
          "Method (?:org/apache/zookeeper/ZooKeeper|io/lockkeeper/server/zookeeper/client/Handle)\\."
              + "(create|delete|exists|getData|setData|getACL|setACL|getChildren|multi|sync"
              + "|addWatch|removeWatches|removeAllWatches|getEphemerals|getAllChildrenNumber"
              + "|transaction|getConfig|reconfig):(\\S+)");

  @Test
  void everyCallOfZooKeeperTakesACallback() throws Exception {
    // Given
    URL code = ZooKeeperLockStore.class.getProtectionDomain().getCodeSource().getLocation();
    Path classes = Path.of(code.toURI()).resolve("io/lockkeeper/server/zookeeper");
    List<String> files;
    try (Stream<Path> found = Files.walk(classes)) {
      files =
          found
              .map(Path::toString)
              .filter(
                  name -> name.endsWith(".class") && !name.matches(".*(IT|Test)(\\$.*)?\\.class"))
              .toList();
    }
    // When
    Matcher calls = CALL.matcher(disassembled(files));
    // Then
    List<String> found = new ArrayList<>();
    while (calls.find()) {
      found.add(calls.group());
    }
    assertThat(found).hasSizeGreaterThan(10);
    assertThat(found).allMatch(call -> call.contains("AsyncCallback$"));
  }

  private static String disassembled(List<String> files) {
    List<String> arguments = new ArrayList<>(List.of("-c", "-p"));
    arguments.addAll(files);
    StringWriter out = new StringWriter();
    ToolProvider javap = ToolProvider.findFirst("javap").orElseThrow();
    int result =
        javap.run(
            new PrintWriter(out),
            new PrintWriter(new StringWriter()),
            arguments.toArray(String[]::new));
    assertThat(result).isZero();
    return out.toString();
  }
}
