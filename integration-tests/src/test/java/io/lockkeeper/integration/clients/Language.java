package io.lockkeeper.integration.clients;

import io.lockkeeper.conformance.ClientProcess;
import io.lockkeeper.conformance.java.Driver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The languages that there is a whole client for. */
public enum Language {
  /** client-java. */
  JAVA,
  /** clients/python. */
  PYTHON,
  /** clients/go. */
  GO,
  /** clients/node. */
  NODE;

  private static final Path CLIENTS = Path.of("..", "clients").toAbsolutePath().normalize();

  /** Returns the languages whose client is built; says loudly which are left out. */
  public static List<Language> ready() {
    return Arrays.stream(values()).filter(Language::isReady).toList();
  }

  /** Returns those of them, Java always, that have one more program, too. */
  public static List<Language> withProgram(String name) {
    return ready().stream().filter(language -> language.has(name)).toList();
  }

  private boolean has(String name) {
    boolean there = this == JAVA || Files.isExecutable(Path.of(program(name)));
    if (!there) {
      System.out.println("SKIPPED: there is no " + name + " for " + label());
    }
    return there;
  }

  private boolean isReady() {
    boolean ready = this == JAVA || ClientProcess.isReady(driver());
    if (!ready) {
      System.out.println("SKIPPED: the client for " + label() + " is not built; run make clients");
    }
    return ready;
  }

  /** Returns the name of its directory and in messages. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns one of the programs that the client's build makes ready. */
  public String program(String name) {
    return CLIENTS.resolve(Path.of(label(), "bin", name)).toString();
  }

  /** Returns the command that speaks the line protocol. */
  String driver() {
    return this == JAVA
        ? String.join(
            " ",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp",
            System.getProperty("java.class.path"),
            Driver.class.getName())
        : program("driver");
  }
}
