package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Latency;
import java.util.Map;

/**
 * One measurement of one system in one row.
 *
 * @param cpuPerThousand seconds of processor that each process took for 1,000 cycles
 * @param transactionsPerCycle ZooKeeper transactions; NaN where there is no ZooKeeper
 */
record Sample(
    double cyclesPerSecond,
    Latency acquire,
    Map<String, Double> cpuPerThousand,
    double transactionsPerCycle) {}
