package io.lockkeeper.integration.chaos;

import static net.bytebuddy.matcher.ElementMatchers.is;
import static net.bytebuddy.matcher.ElementMatchers.named;

import io.lockkeeper.cli.Main;
import io.lockkeeper.integration.harness.Jar;
import io.lockkeeper.server.zookeeper.client.MultiReply;
import io.lockkeeper.server.zookeeper.mirror.MirrorReads;
import java.io.File;
import java.lang.invoke.MethodHandles;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.pool.TypePool;

/**
 * A bug that coordinators are given, to see whether the checker finds it. The program has no part
 * in it: {@link #main} changes the byte code of one class before it is loaded, and then runs the
 * program.
 */
enum PlantedBug {
  /** Claims are not checked: a deposed coordinator goes on writing. */
  SKIP_EPOCH_CHECK(MultiReply.class, "Fence"),

  /** What was missed while the mirror was out of touch is not read back, and grants go on. */
  SKIP_STALE_MIRROR(MirrorReads.class, "MirrorFeed");

  /** A class of the same package that does not load the one that is changed. */
  private final Class<?> neighbour;

  private final String type;

  PlantedBug(Class<?> neighbour, String type) {
    this.neighbour = neighbour;
    this.type = neighbour.getPackageName() + "." + type;
  }

  /** Returns what is put around which methods of the class. */
  private Map<String, Class<?>> advices() {
    return switch (this) {
      case SKIP_EPOCH_CHECK -> Map.of("of", AnyEpoch.class);
      case SKIP_STALE_MIRROR -> Map.of("lose", NeverStale.class, "rebuild", OnlyOnce.class);
    };
  }

  /** Returns the bug of that name, as in {@code skip-epoch-check}. */
  static PlantedBug of(String name) {
    return Stream.of(values())
        .filter(bug -> bug.toString().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no such bug: " + name));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Runs the program, whose arguments follow the name of the bug that it is to have. */
  public static void main(String[] args) throws IllegalAccessException {
    PlantedBug bug = of(args[0]);
    // In this class loader and this early, so that whoever needs the class finds the changed one.
    MethodHandles.privateLookupIn(bug.neighbour, MethodHandles.lookup())
        .defineClass(bug.changed().getBytes());
    System.out.println("THIS PROGRAM WAS GIVEN A BUG: " + bug);
    Main.main(Arrays.copyOfRange(args, 1, args.length));
  }

  /** Returns a command that starts the program with this bug; arguments follow. */
  List<String> command(List<String> javaOptions) {
    // The program comes first: nothing but the one class is replaced.
    String classPath =
        Stream.of(Jar.PROGRAM, home(PlantedBug.class), home(ByteBuddy.class))
            .map(Path::toString)
            .collect(Collectors.joining(File.pathSeparator));
    return Stream.of(
            List.of(Jar.JAVA),
            javaOptions,
            List.of("-cp", classPath, PlantedBug.class.getName(), toString()))
        .flatMap(List::stream)
        .toList();
  }

  private static Path home(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the class with the bug. Fails if a method or a field that it changes is not there. */
  DynamicType.Unloaded<?> changed() {
    ClassFileLocator classes =
        ClassFileLocator.ForClassLoader.of(PlantedBug.class.getClassLoader());
    TypeDescription original = TypePool.Default.of(classes).describe(type).resolve();
    DynamicType.Builder<?> changed = new ByteBuddy().redefine(original, classes);
    for (Map.Entry<String, Class<?>> advice : advices().entrySet()) {
      MethodDescription method =
          original.getDeclaredMethods().filter(named(advice.getKey())).getOnly();
      changed = changed.visit(Advice.to(advice.getValue()).on(is(method)));
    }
    return changed.make();
  }

  /** Whatever epoch is to be checked, any will do. */
  @SuppressWarnings("UnusedVariable") // What is assigned to a parameter, Byte Buddy writes through.
  private static final class AnyEpoch {

    @Advice.OnMethodEnter
    static void enter(
        @Advice.Argument(value = 1, readOnly = false) int epoch,
        @Advice.FieldValue("ANY") int any) {
      epoch = any;
    }
  }

  /** A mirror that was current stays so when its connection is lost, and nobody is told. */
  @SuppressWarnings("UnusedVariable") // As above.
  private static final class NeverStale {

    @Advice.OnMethodEnter
    static boolean enter(@Advice.FieldValue(value = "stale", readOnly = false) boolean stale) {
      boolean before = stale;
      stale = true;
      return before;
    }

    @Advice.OnMethodExit
    static void exit(
        @Advice.Enter boolean before,
        @Advice.FieldValue(value = "stale", readOnly = false) boolean stale) {
      stale = before;
    }
  }

  /** A mirror that is current is not rebuilt. */
  private static final class OnlyOnce {

    @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
    static boolean enter(@Advice.FieldValue("stale") boolean stale) {
      return !stale;
    }
  }
}
