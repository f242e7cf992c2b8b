package io.lockkeeper.cli.shell;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Receives signals of the operating system until closed. The JDK offers this in {@code sun.misc}
 * only, which every JDK 17 has and which javac warns of at each mention: hence by reflection. Where
 * it is missing, the JVM's own handling stays.
 */
public final class Signals implements AutoCloseable {

  private final Map<String, Object> before = new LinkedHashMap<>();
  private boolean complete = true;

  /**
   * Calls {@code handler} with the signal's name, on a thread of its own, whenever one of these
   * signals arrives, instead of ending the process.
   *
   * @param names such as {@code TERM}
   */
  public Signals(Consumer<String> handler, String... names) {
    for (String name : names) {
      try {
        before.put(name, install(name, proxy(name, handler)));
      } catch (ReflectiveOperationException e) {
        complete = false;
      }
    }
  }

  /** Returns whether all signals asked for are received. */
  public boolean isComplete() {
    return complete;
  }

  /** Hands the signals back to whoever had them. */
  @Override
  public void close() {
    before.forEach(
        (name, handler) -> {
          try {
            install(name, handler);
          } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("what could be set can be set back", e);
          }
        });
    before.clear();
  }

  private static Object install(String name, Object handler) throws ReflectiveOperationException {
    Class<?> signalType = Class.forName("sun.misc.Signal");
    Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
    Object signal = signalType.getConstructor(String.class).newInstance(name);
    Object old =
        signalType.getMethod("handle", signalType, handlerType).invoke(null, signal, handler);
    if (old == null) {
      throw new InvocationTargetException(new IllegalStateException("no handler before"));
    }
    return old;
  }

  private static Object proxy(String name, Consumer<String> handler) throws ClassNotFoundException {
    return Proxy.newProxyInstance(
        Signals.class.getClassLoader(),
        new Class<?>[] {Class.forName("sun.misc.SignalHandler")},
        (self, method, args) -> {
          if (method.getName().equals("handle")) {
            handler.accept(name);
          }
          return null;
        });
  }
}
