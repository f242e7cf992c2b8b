package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In a JVM of its own, which reads the names from a file instead of asking the system. */
class NameCacheTest {

  private static final String HOSTS = "jdk.net.hosts.file";

  @TempDir private Path folder;

  /** Looks names up, and again when their addresses have changed. */
  static final class Program {

    private Program() {}

    public static void main(String[] args) throws Exception {
      int unused = Main.run("--version");
      String changed = address("changed");
      String added = address("added");
      Files.writeString(Path.of(System.getProperty(HOSTS)), "10.0.0.2 changed\n10.0.0.3 added\n");
      awaitOther("added", added, 5); // The JVM's default is 10 s.
      awaitOther("changed", changed, 15); // The JVM's default is 30 s.
    }

    private static void awaitOther(String host, String former, int seconds) {
      long start = System.nanoTime();
      while (address(host).equals(former)
          && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(seconds)) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
      }
      System.out.println(host + ": " + former + ", " + address(host));
    }

    private static String address(String host) {
      try {
        return InetAddress.getByName(host).getHostAddress();
      } catch (UnknownHostException e) {
        return "unknown";
      }
    }
  }

  private List<String> run() throws Exception {
    Path hosts = Files.writeString(folder.resolve("hosts"), "10.0.0.1 changed\n");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-D" + HOSTS + "=" + hosts, "-cp", System.getProperty("java.class.path")));
    command.add(Program.class.getName());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    List<String> lines = process.inputReader().lines().toList();
    assertThat(process.waitFor()).as("%s", lines).isZero();
    return lines;
  }

  @Test
  void programFindsAnAddressThatHasChangedOrComeInTimeForALease() throws Exception {
    // When
    List<String> lines = run();
    // Then
    assertThat(lines).contains("added: unknown, 10.0.0.3", "changed: 10.0.0.1, 10.0.0.2");
  }
}
