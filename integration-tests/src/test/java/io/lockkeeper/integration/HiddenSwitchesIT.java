package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Jar;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import net.bytebuddy.jar.asm.ClassReader;
import org.junit.jupiter.api.Test;

/**
 * The program has no setting but the documented ones: above all, no system property of what we ship
 * turns a check off.
 */
final class HiddenSwitchesIT {

  /** The tag of a method in a class file's constant pool (JVMS 4.4). */
  private static final int METHOD = 10;

  private static final int LONGEST_NAME = 65_536;

  private static final Set<String> READS =
      Set.of(
          "java/lang/System.getProperty",
          "java/lang/System.getProperties",
          "java/lang/System.getenv",
          "java/lang/Boolean.getBoolean",
          "java/lang/Integer.getInteger",
          "java/lang/Long.getLong");

  @Test
  void onlyTheseClassesReadSystemPropertiesOrTheEnvironment() throws IOException {
    // Given
    List<String> readers = new ArrayList<>();

    // When
    try (JarFile jar = new JarFile(Jar.PROGRAM.toFile())) {
      for (JarEntry entry : jar.stream().filter(HiddenSwitchesIT::isOurs).toList()) {
        ClassReader type = new ClassReader(jar.getInputStream(entry).readAllBytes());
        if (calls(type).stream().anyMatch(READS::contains)) {
          readers.add(type.getClassName());
        }
      }
    }

    // Then
    assertThat(readers)
        .containsExactlyInAnyOrder(
            // The Java program itself: java.class.path, user.name, and the level of its log.
            "io/lockkeeper/cli/server/DevCommand",
            "io/lockkeeper/cli/call/Me",
            "io/lockkeeper/cli/shell/Logging",
            // LOCKKEEPER_..., which are documented beside the options.
            "io/lockkeeper/cli/server/ServerCommand",
            "io/lockkeeper/cli/call/ServerOptions",
            // NO_COLOR, documented beside --color.
            "io/lockkeeper/cli/text/OutputOptions",
            // Of ZooKeeper, in order to set them.
            "io/lockkeeper/server/app/EmbeddedZooKeeper",
            // What ZooKeeper's client reads itself: whether there is a file of JAAS.
            "io/lockkeeper/server/app/ZooKeeperFiles",
            // How Java is told to resume no TLS session.
            "io/lockkeeper/server/rpc/Credentials");
  }

  private static boolean isOurs(JarEntry entry) {
    return entry.getName().startsWith("io/lockkeeper/") && entry.getName().endsWith(".class");
  }

  /** Returns the methods that a class calls or refers to, as {@code owner.name}. */
  private static List<String> calls(ClassReader type) {
    char[] buffer = new char[LONGEST_NAME];
    List<String> calls = new ArrayList<>();
    for (int i = 1; i < type.getItemCount(); i++) {
      int item = type.getItem(i);
      // The second half of a long or a double has no place of its own.
      if (item != 0 && type.readByte(item - 1) == METHOD) {
        int nameAndType = type.getItem(type.readUnsignedShort(item + 2));
        calls.add(type.readClass(item, buffer) + "." + type.readUTF8(nameAndType, buffer));
      }
    }
    return calls;
  }
}
