package io.lockkeeper.conformance;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** One scenario: its name, the sentence of the contract that it checks, and its script. */
record Scenario(String name, String sentence, Method script) {

  private static final List<Class<?>> SUBJECTS =
      List.of(
          AcquireScenarios.class,
          BackoffScenarios.class,
          CloseScenarios.class,
          DeadlineScenarios.class,
          EpochScenarios.class,
          GoingAwayScenarios.class,
          JeopardyScenarios.class,
          KeepAliveScenarios.class,
          KeptScenarios.class,
          RefusalScenarios.class,
          ReleaseScenarios.class,
          ResumeScenarios.class,
          ToleranceScenarios.class);

  /** Returns all scenarios, by subject and name. */
  static List<Scenario> all() {
    return SUBJECTS.stream()
        .flatMap(subject -> Stream.of(subject.getDeclaredMethods()))
        .filter(method -> method.isAnnotationPresent(Sentence.class))
        .map(Scenario::of)
        .sorted(Comparator.comparing(Scenario::name))
        .toList();
  }

  private static Scenario of(Method method) {
    String subject = method.getDeclaringClass().getSimpleName().replace("Scenarios", "");
    return new Scenario(
        subject + "." + method.getName(), method.getAnnotation(Sentence.class).value(), method);
  }

  /** Plays the script. */
  void play(Stage stage) {
    try {
      script.invoke(null, stage);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }
}
