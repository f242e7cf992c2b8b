package io.lockkeeper.server.coordinator;

import io.lockkeeper.server.coordinator.api.LockStore;
import io.lockkeeper.server.memory.InMemoryLockStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A store in memory whose methods throw when they are told to. */
final class FaultyStore {

  private final InMemoryLockStore store = new InMemoryLockStore();
  private final Map<String, Throwable> faults = new ConcurrentHashMap<>();

  /** Returns the store behind. */
  InMemoryLockStore store() {
    return store;
  }

  /** Has a method throw from now on, instead of doing anything. */
  void breakAt(String method, Throwable thrown) {
    faults.put(method, thrown);
  }

  /** Returns it as the coordinator sees it. */
  LockStore asLockStore() {
    return (LockStore)
        Proxy.newProxyInstance(
            LockStore.class.getClassLoader(),
            new Class<?>[] {LockStore.class},
            (proxy, method, arguments) -> call(method, arguments));
  }

  private Object call(Method method, Object[] arguments) throws Throwable {
    Throwable fault = faults.get(method.getName());
    if (fault != null) {
      throw fault;
    }
    try {
      return method.invoke(store, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
