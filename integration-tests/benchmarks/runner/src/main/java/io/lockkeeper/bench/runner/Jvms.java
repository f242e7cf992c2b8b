package io.lockkeeper.bench.runner;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** How JVMs are started from what the other modules have built. */
record Jvms(Path benchmarks) {

  /** The heap of every load, whichever system it asks. */
  static final List<String> LOAD_FLAGS = List.of("-Xms512m", "-Xmx512m");

  /** What {@code zkServer.sh} gives ZooKeeper. */
  static final List<String> ZOOKEEPER_FLAGS = List.of("-Xmx1000m");

  private static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  /** Returns a command that runs a class on the class path of a module. */
  List<String> command(String module, List<String> flags, String main, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(JAVA);
    command.addAll(flags);
    command.addAll(List.of("-cp", classPath(module), main));
    command.addAll(arguments);
    return command;
  }

  /** Returns a command that runs the program. */
  List<String> program(List<String> flags, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(JAVA);
    command.addAll(flags);
    command.addAll(List.of("-jar", programJar().toString()));
    command.addAll(arguments);
    return command;
  }

  /** Returns the directory of the whole project. */
  Path root() {
    return benchmarks.resolve("../..").normalize();
  }

  private Path programJar() {
    return root().resolve("cli/target/lockkeeper.jar");
  }

  /** Returns the jars that a module runs with, its own first. */
  String classPath(String module) throws IOException {
    Path target = benchmarks.resolve(module).resolve("target");
    Path list = target.resolve("class-path.txt");
    if (!Files.exists(list)) {
      throw new IOException(list + " is missing: build the benchmarks with make bench");
    }
    return target.resolve("classes") + File.pathSeparator + Files.readString(list).strip();
  }

  /** Returns the version of a library on a module's class path; empty: it is not there. */
  String version(String module, String artifact) throws IOException {
    try (Stream<String> jars =
        Stream.of(classPath(module).split(File.pathSeparator, -1))
            .map(jar -> jar.substring(jar.lastIndexOf('/') + 1))) {
      return jars.filter(jar -> jar.matches(artifact + "-[0-9].*\\.jar"))
          .map(jar -> jar.substring(artifact.length() + 1, jar.length() - ".jar".length()))
          .findFirst()
          .orElse("");
    }
  }
}
