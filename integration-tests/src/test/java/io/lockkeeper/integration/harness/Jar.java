package io.lockkeeper.integration.harness;

import java.nio.file.Path;

/** The program under test. */
public final class Jar {

  /** The program: {@code cli/target/lockkeeper.jar}. */
  public static final Path PROGRAM =
      Path.of(System.getProperty("lockkeeper.jar", "../cli/target/lockkeeper.jar"))
          .toAbsolutePath();

  /** The Java that runs it: the one that runs the tests. */
  public static final String JAVA =
      Path.of(System.getProperty("java.home"), "bin", "java").toString();

  private Jar() {}
}
