package io.lockkeeper.cli;

import java.lang.reflect.Proxy;
import java.util.function.Consumer;

/**
 * Receives signals of the operating system. The JDK offers this in {@code sun.misc} only, which
 * every JDK 17 has and which javac warns of at each mention: hence by reflection. Where it is
 * missing, the JVM's own handling stays.
 */
final class Signals {

  private Signals() {}

  /**
   * Calls {@code handler} with the signal's name, on a thread of its own, whenever one of these
   * signals arrives, instead of ending the process.
   *
   * @param names such as {@code TERM}
   * @return whether all of them are handled
   */
  static boolean handle(Consumer<String> handler, String... names) {
    boolean all = true;
    for (String name : names) {
      all &= handle(handler, name);
    }
    return all;
  }

  private static boolean handle(Consumer<String> handler, String name) {
    try {
      Class<?> signalType = Class.forName("sun.misc.Signal");
      Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
      Object proxy =
          Proxy.newProxyInstance(
              Signals.class.getClassLoader(),
              new Class<?>[] {handlerType},
              (self, method, args) -> {
                if (method.getName().equals("handle")) {
                  handler.accept(name);
                }
                return null;
              });
      Object signal = signalType.getConstructor(String.class).newInstance(name);
      signalType.getMethod("handle", signalType, handlerType).invoke(null, signal, proxy);
      return true;
    } catch (ReflectiveOperationException e) {
      return false;
    }
  }
}
