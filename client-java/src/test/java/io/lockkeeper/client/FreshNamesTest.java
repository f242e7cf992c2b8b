package io.lockkeeper.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.client.internal.transport.Target;
import io.lockkeeper.client.internal.transport.Transport;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In a JVM of its own, which reads the names from a file instead of asking the system. */
class FreshNamesTest {

  /** The file is compared letter by letter. */
  private static final String SPELLINGS = " ab Ab aB AB\n";

  private static final String HOSTS = "jdk.net.hosts.file";

  @TempDir private Path folder;

  /** Uses a name, and again when its address has changed. */
  static final class Program {

    private Program() {}

    public static void main(String[] args) throws Exception {
      Path hosts = Path.of(System.getProperty(HOSTS));
      Target target = Target.parseList("ab:7420").get(0);
      System.out.println(InetAddress.getByName("ab").getHostAddress());
      System.out.println(lookUp(target));
      Files.writeString(hosts, "10.0.0.2" + SPELLINGS);
      long start = System.nanoTime();
      long limit = TimeUnit.SECONDS.toNanos(Long.parseLong(args[0]));
      while (lookUp(target).contains("10.0.0.1") && System.nanoTime() - start < limit) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
      }
      System.out.println(lookUp(target));
      var channel = Transport.plaintext().connect(target.asWritten());
      System.out.println(channel.authority());
      channel.shutdownNow();
    }

    private static String lookUp(Target target) throws IOException {
      return Target.Resolver.SYSTEM.lookUp(target.host()).toString();
    }
  }

  private List<String> run(int seconds, String... options) throws Exception {
    Path hosts = Files.writeString(folder.resolve("hosts"), "10.0.0.1" + SPELLINGS);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(options));
    command.addAll(
        List.of("-D" + HOSTS + "=" + hosts, "-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Program.class.getName(), Integer.toString(seconds)));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    List<String> lines = process.inputReader().lines().toList();
    assertThat(process.waitFor()).as("%s", lines).isZero();
    return lines;
  }

  @Test
  void changedAddressIsFoundAlthoughTheJvmKeepsTheFormerOne() throws Exception {
    // When
    List<String> lines = run(20);
    // Then
    assertThat(lines).hasSize(4);
    assertThat(lines.get(1)).containsIgnoringCase("ab/10.0.0.1");
    assertThat(lines.get(2)).containsIgnoringCase("ab/10.0.0.2");
    assertThat(lines.get(3)).isEqualTo("ab:7420");
  }

  @Test
  void applicationThatHasSetHowLongAddressesAreKeptHasItsWay() throws Exception {
    // Given
    Path security =
        Files.writeString(folder.resolve("security"), "networkaddress.cache.ttl=3600\n");
    // When
    List<String> lines = run(2, "-Djava.security.properties=" + security);
    // Then
    assertThat(lines.get(2)).contains("10.0.0.1");
  }
}
