package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Report;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A system that runs, with its load.
 *
 * @param system its name in tables and results
 * @param servers whose processors are counted beside the load's
 * @param zookeeper whose transactions are counted
 */
record Scene(
    String system, LoadProcess load, List<Child> servers, Optional<ZooKeeperServer> zookeeper) {

  /** Returns the same, with one more process that is counted. */
  Scene with(Child another) {
    return new Scene(
        system, load, Stream.concat(servers.stream(), Stream.of(another)).toList(), zookeeper);
  }

  /** Has an order carried out of which only the load's own report matters. */
  Report warmUp(Order order) throws IOException {
    return load.carryOut(order, new Costs());
  }

  /** Returns the seconds that the compilers of all its JVMs have taken so far. */
  double compilerSeconds() throws IOException {
    double seconds = ProcFiles.compilerSeconds(load.child().pid());
    for (Child server : servers) {
      seconds += ProcFiles.compilerSeconds(server.pid());
    }
    return seconds;
  }

  /** Has an order carried out and measures what it costs. */
  Sample measure(Order order) throws IOException {
    Costs costs = new Costs();
    Report report = load.carryOut(order, costs);
    if (report.cycles() == 0) {
      throw new IOException(system + " has done nothing at " + order);
    }
    double thousands = report.cycles() / 1e3;
    Map<String, Double> cpu = new LinkedHashMap<>();
    costs.cpuSeconds.forEach((server, seconds) -> cpu.put(server, seconds / thousands));
    cpu.put("load", report.cpuNanos() / 1e9 / thousands);
    return new Sample(
        report.cyclesPerSecond(),
        report.acquire(),
        cpu,
        zookeeper.isPresent() ? (double) costs.transactions / report.cycles() : Double.NaN);
  }

  /** What the servers spend while a load counts. */
  private final class Costs implements LoadProcess.Observer {
    private final Map<String, Double> cpuSeconds = new LinkedHashMap<>();
    private long transactions;

    @Override
    public void begin() throws IOException {
      count(-1);
    }

    @Override
    public void end() throws IOException {
      count(1);
    }

    private void count(int sign) throws IOException {
      for (Child server : servers) {
        cpuSeconds.merge(server.name(), sign * ProcFiles.cpuSeconds(server.pid()), Double::sum);
      }
      if (zookeeper.isPresent()) {
        transactions += sign * zookeeper.orElseThrow().transactions();
      }
    }
  }
}
