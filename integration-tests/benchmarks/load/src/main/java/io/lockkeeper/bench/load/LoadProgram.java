package io.lockkeeper.bench.load;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.json.JsonMapper;

/**
 * Carries out orders that come line by line, one after the other.
 *
 * <p>To each {@link Order} there are three lines: {@link #BEGIN} when counting begins, {@link #END}
 * with the {@link Report} when it ends, and {@link #IDLE} when all clients have stopped. Between
 * the first two, whoever gave the order measures what other processes spend.
 */
public final class LoadProgram {

  /** What every line to the giver of orders begins with; libraries may write others. */
  public static final String MARK = "@load ";

  /** Orders are awaited. */
  public static final String READY = MARK + "ready";

  /** Counting begins. */
  public static final String BEGIN = MARK + "begin";

  /** Counting has ended; the report follows on the line. */
  public static final String END = MARK + "end ";

  /** The clients have stopped. */
  public static final String IDLE = MARK + "idle";

  private static final JsonMapper JSON = JsonMapper.shared();
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final LoadedSystem system;
  private final PrintStream answers;

  private LoadProgram(LoadedSystem system, PrintStream answers) {
    this.system = system;
    this.answers = answers;
  }

  /** Serves orders until the input ends. */
  public static void serve(LoadedSystem system, InputStream orders, PrintStream answers)
      throws IOException, InterruptedException {
    LoadProgram program = new LoadProgram(system, answers);
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(orders, StandardCharsets.UTF_8));
    program.say(READY);
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      program.carryOut(JSON.readValue(line, Order.class));
    }
  }

  /** Serves orders from standard input, and ends the JVM with it. */
  public static void run(LoadedSystem system) throws IOException, InterruptedException {
    serve(system, System.in, System.out);
    Runtime.getRuntime().halt(0);
  }

  private void carryOut(Order order) throws InterruptedException {
    Tally tally = new Tally(order.cycles());
    Report report;
    try {
      Crew crew = system.start(order, tally);
      report = measure(order, tally);
      say(END + JSON.writeValueAsString(report));
      crew.stop();
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      e.printStackTrace();
      say(END + JSON.writeValueAsString(Report.failed(tally.failure().orElse(e))));
    }
    say(IDLE);
  }

  private Report measure(Order order, Tally tally) throws InterruptedException {
    if (order.warmMillis() > 0) {
      tally.await(order.warmMillis());
    }
    say(BEGIN);
    long cpuBefore = PROCESS.getProcessCpuTime();
    Latency unused = tally.latency();
    long before = tally.cycles();
    long startNanos = System.nanoTime();
    tally.await(order.millis());
    long cycles = tally.cycles() - before;
    long nanos = System.nanoTime() - startNanos;
    long cpuNanos = PROCESS.getProcessCpuTime() - cpuBefore;
    return new Report(cycles, nanos, cpuNanos, tally.latency(), "");
  }

  private void say(String line) {
    answers.println(line);
    answers.flush();
  }
}
