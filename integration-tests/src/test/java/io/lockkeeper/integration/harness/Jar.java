package io.lockkeeper.integration.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/** The program under test. */
public final class Jar {

  /** The program: {@code cli/target/lockkeeper.jar}. */
  public static final Path PROGRAM =
      Path.of(System.getProperty("lockkeeper.jar", "../cli/target/lockkeeper.jar"))
          .toAbsolutePath()
          .normalize();

  /** The Java that runs it: the one that runs the tests. */
  public static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private static final Path SCRIPT =
      PROGRAM.resolve("../../../packaging/bin/archive-classes").normalize();

  /** Where the launcher looks for it. */
  private static final Path ARCHIVE = PROGRAM.resolveSibling("lockkeeper.jsa");

  private Jar() {}

  /**
   * Returns a command that starts the program as its launcher does, with archived classes: to load
   * them is half of what a start costs, and the tests start hundreds. Arguments follow.
   */
  public static List<String> command(List<String> javaOptions) {
    makeArchive();
    return Stream.of(
            List.of(JAVA),
            List.of("-XX:SharedArchiveFile=" + ARCHIVE, "-Xshare:auto"),
            List.of("-Xlog:disable", "-Xlog:all=error:stderr"),
            javaOptions,
            List.of("-jar", PROGRAM.toString()))
        .flatMap(List::stream)
        .toList();
  }

  /** Returns a command that starts a class of the tests in a small JVM. */
  public static List<String> ofTests(Class<?> main, String... arguments) {
    return Stream.of(
            List.of(JAVA, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            List.of("-cp", System.getProperty("java.class.path"), main.getName()),
            List.of(arguments))
        .flatMap(List::stream)
        .toList();
  }

  /** Several JVMs run the tests at once: the first one makes it. */
  private static synchronized void makeArchive() {
    try (FileChannel channel =
            FileChannel.open(
                PROGRAM.resolveSibling("lockkeeper.jsa.lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        FileLock held = channel.lock()) {
      if (held.isValid() && !isArchived()) {
        ProcessBuilder script = new ProcessBuilder(SCRIPT.toString()).inheritIO();
        script.environment().put("JAVA_HOME", System.getProperty("java.home"));
        int exitCode = script.start().onExit().join().exitValue();
        if (exitCode != 0) {
          throw new IllegalStateException(SCRIPT + " ended with " + exitCode);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isArchived() throws IOException {
    return Files.exists(ARCHIVE)
        && Files.getLastModifiedTime(ARCHIVE).compareTo(Files.getLastModifiedTime(PROGRAM)) > 0;
  }
}
