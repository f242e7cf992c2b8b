package io.lockkeeper.bench.runner;

import java.io.IOException;
import tools.jackson.databind.JsonNode;

/** Many leases that are kept alive and do nothing else. */
final class LeasesRow extends OwnRow {

  private static final int TTL_SECONDS = 15;
  // Some hundred thousand renewals: the compilers take that long, see WarmUp.
  private static final long SETTLING_MILLIS = 45_000;
  private static final long MEASURED_MILLIS = 15_000;
  private static final String LOAD = "io.lockkeeper.bench.lockkeeper.LeasesLoad";

  private final int leases;

  private LeasesRow(String label, int leases, boolean ofGrowth) {
    super(label, ofGrowth);
    this.leases = leases;
  }

  static LeasesRow ofFiftyThousand() {
    return new LeasesRow("leases-50k", 50_000, false);
  }

  /** As many as a coordinator takes, but for those of other loads. */
  static LeasesRow ofHundredThousand() {
    return new LeasesRow("leases-100k", 99_900, true);
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    Coordinator coordinator = stage.coordinator();
    long pid = coordinator.child().pid();
    try (TalkingJvm load = stage.talk("leases", LOAD, coordinator.address())) {
      int threadsBefore = ProcFiles.threads(pid);
      long bytesBefore = Heap.liveBytes(pid);
      long startNanos = System.nanoTime();
      load.ask("open " + leases + " " + TTL_SECONDS);
      double openSeconds = (System.nanoTime() - startNanos) / 1e9;
      Pause.millis(SETTLING_MILLIS);
      long renewedBefore = load.ask("status").get("renewed").asLong();
      double cpuBefore = ProcFiles.cpuSeconds(pid);
      startNanos = System.nanoTime();
      Pause.millis(MEASURED_MILLIS);
      double seconds = (System.nanoTime() - startNanos) / 1e9;
      double cores = (ProcFiles.cpuSeconds(pid) - cpuBefore) / seconds;
      JsonNode status = load.ask("status");
      if (status.get("ended").asLong() > 0) {
        throw new IOException("leases have ended: " + status);
      }
      results.figure(label(), "leases", leases);
      results.figure(label(), "opened a second", leases / openSeconds);
      results.figure(label(), "times that one had to wait", status.get("refused").asLong());
      results.figure(
          label(), "renewals a second", (status.get("renewed").asLong() - renewedBefore) / seconds);
      results.figure(label(), "coordinator cores", cores);
      results.figure(label(), "coordinator threads before", threadsBefore);
      results.figure(label(), "coordinator threads with leases", ProcFiles.threads(pid));
      results.figure(
          label(),
          "coordinator heap bytes a lease",
          (double) (Heap.liveBytes(pid) - bytesBefore) / leases);
      results.ratio(label() + "/cores", cores);
    }
  }
}
