package io.lockkeeper.integration.clients;

import io.lockkeeper.conformance.ClientProcess;
import io.lockkeeper.conformance.java.Driver;
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

  /** Each program is tried once. */
  private static final List<Language> READY =
      Arrays.stream(values()).filter(Language::isReady).toList();

  /** Returns the languages whose client is built; says loudly which are left out. */
  public static List<Language> ready() {
    return READY;
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
    return this == JAVA ? Driver.command() : program("driver");
  }
}
