package io.lockkeeper.server.core.simulation;

import io.lockkeeper.server.core.Kernel;
import io.lockkeeper.server.core.takeover.MirrorRebuilds;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a coordinator's core keeps in memory: how many objects of each of its classes can be reached
 * from the kernel, through collections, records and whatever a timer is to run.
 */
final class SimMemory {

  private static final String CORE = Kernel.class.getPackageName();

  private final Map<String, Integer> counts = new TreeMap<>();
  private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Deque<Object> toVisit = new ArrayDeque<>();

  private SimMemory() {}

  /** Counts the objects by class; what runs later is counted by the class that wrote it. */
  static Map<String, Integer> of(Kernel kernel) {
    SimMemory memory = new SimMemory();
    memory.meet(kernel);
    while (!memory.toVisit.isEmpty()) {
      memory.visit(memory.toVisit.remove());
    }
    return memory.counts;
  }

  private void meet(Object object) {
    if (object != null && !(object instanceof Enum<?>) && seen.add(object)) {
      toVisit.add(object);
    }
  }

  private void visit(Object object) {
    if (object instanceof Map<?, ?> map) {
      map.keySet().forEach(this::meet);
      map.values().forEach(this::meet);
    } else if (object instanceof Collection<?> collection) {
      collection.forEach(this::meet);
    } else if (object instanceof Optional<?> optional) {
      optional.ifPresent(this::meet);
    } else if (object instanceof Object[] array) {
      Arrays.asList(array).forEach(this::meet);
    } else if (isOfTheCore(object.getClass())) {
      counts.merge(name(object), 1, Integer::sum);
      visitFields(object, object.getClass());
    }
  }

  private static boolean isOfTheCore(Class<?> type) {
    return type.getName().startsWith(CORE + ".");
  }

  /** Returns what objects of a class are counted under. */
  static String name(Class<?> type) {
    return type.getName().substring(type.getPackageName().length() + 1);
  }

  private static String name(Object object) {
    String name = name(object.getClass());
    int lambda = name.indexOf("$$Lambda");
    return lambda < 0 ? name : name.substring(0, lambda) + " later";
  }

  private void visitFields(Object object, Class<?> type) {
    Arrays.stream(type.getDeclaredFields())
        .filter(field -> !field.getType().isPrimitive())
        .filter(field -> !Modifier.isStatic(field.getModifiers()) && !isWeak(field))
        .forEach(field -> meet(valueOf(object, field)));
    if (isOfTheCore(type.getSuperclass())) {
      visitFields(object, type.getSuperclass());
    }
  }

  /** What is held weakly is no burden. */
  private static boolean isWeak(Field field) {
    return field.getDeclaringClass() == MirrorRebuilds.class && field.getName().equals("undecided");
  }

  private static Object valueOf(Object object, Field field) {
    try {
      field.setAccessible(true);
      return field.get(object);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }
}
