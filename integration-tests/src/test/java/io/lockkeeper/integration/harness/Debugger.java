package io.lockkeeper.integration.harness;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.ClassNotLoadedException;
import com.sun.jdi.ClassType;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.InvalidTypeException;
import com.sun.jdi.InvocationException;
import com.sun.jdi.Method;
import com.sun.jdi.ObjectReference;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector.Argument;
import com.sun.jdi.connect.IllegalConnectorArgumentsException;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.EventRequest;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A debugger that has a Java process throw where nothing in the program would: so a test sees what
 * becomes of a bug, and the program needs no switch for it.
 */
public final class Debugger implements AutoCloseable {

  private final VirtualMachine machine;

  private Debugger(VirtualMachine machine) {
    this.machine = machine;
  }

  /** Returns the environment of a Java process that a debugger can be attached to at the port. */
  public static Map<String, String> environment(int port) {
    return Map.of(
        "JAVA_TOOL_OPTIONS",
        "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:" + port);
  }

  /** Attaches to a process that was started in that environment. */
  public static Debugger attach(int port) {
    AttachingConnector connector =
        Bootstrap.virtualMachineManager().attachingConnectors().stream()
            .filter(candidate -> candidate.name().equals("com.sun.jdi.SocketAttach"))
            .findFirst()
            .orElseThrow();
    Map<String, Argument> arguments = connector.defaultArguments();
    arguments.get("hostname").setValue("127.0.0.1");
    arguments.get("port").setValue(Integer.toString(port));
    try {
      return new Debugger(connector.attach(arguments));
    } catch (IOException | IllegalConnectorArgumentsException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Has the next call of a method throw an {@link IllegalStateException} instead of doing anything.
   *
   * @param className a class that is loaded
   * @param method its only method of that name
   * @return completes when it was thrown
   */
  public CompletableFuture<Void> throwAt(String className, String method) {
    List<Method> methods = machine.classesByName(className).get(0).methodsByName(method);
    BreakpointRequest entry =
        machine.eventRequestManager().createBreakpointRequest(methods.get(0).location());
    entry.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
    entry.enable();
    return CompletableFuture.runAsync(() -> awaitEntry(entry));
  }

  private void awaitEntry(BreakpointRequest entry) {
    try {
      while (true) {
        EventSet events = machine.eventQueue().remove();
        for (Event event : events) {
          if (event instanceof BreakpointEvent reached) {
            entry.disable();
            reached.thread().stop(exceptionIn(reached.thread()));
            machine.dispose();
            return;
          }
        }
        events.resume();
      }
    } catch (InterruptedException
        | InvalidTypeException
        | ClassNotLoadedException
        | IncompatibleThreadStateException
        | InvocationException e) {
      throw new IllegalStateException(e);
    }
  }

  private ObjectReference exceptionIn(ThreadReference thread)
      throws InvalidTypeException,
          ClassNotLoadedException,
          IncompatibleThreadStateException,
          InvocationException {
    ClassType type = (ClassType) machine.classesByName("java.lang.IllegalStateException").get(0);
    Method constructor = type.concreteMethodByName("<init>", "(Ljava/lang/String;)V");
    return type.newInstance(
        thread,
        constructor,
        List.of(machine.mirrorOf("thrown by a debugger")),
        ClassType.INVOKE_SINGLE_THREADED);
  }

  @Override
  public void close() {
    try {
      machine.dispose();
    } catch (VMDisconnectedException gone) {
      // The process has ended, or nothing more is wanted of it.
    }
  }
}
