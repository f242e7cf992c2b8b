package io.lockkeeper.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What is read from other processes' answers. */
class ReadingsTest {

  @Test
  void processorTimeIsReadWhateverTheProcessIsCalled() {
    String stat = "42 (a ) S b) S 1 42 42 0 -1 4194304 500 0 0 0 250 50 0 0 20 0 30 0 100 1 2";
    assertThat(ProcFiles.cpuSeconds(stat)).isEqualTo(3.0);
  }

  @Test
  void transactionsAreTheCounterOfTheZxid() {
    String srvr = "Zookeeper version: 3.9.5\nZxid: 0x70000001f\nMode: standalone\nNode count: 5\n";
    assertThat(ZooKeeperServer.transactions(srvr)).isEqualTo(31);
  }

  @Test
  void watchEventsAreThoseOfCreationsAndDeletions() {
    String mntr =
        """
        zk_sum_node_created_watch_count\t7
        zk_cnt_node_created_watch_count\t3
        zk_sum_node_deleted_watch_count\t5
        """;
    assertThat(ZooKeeperServer.watchEvents(mntr)).isEqualTo(12);
  }

  @Test
  void metricWithLabelsIsTheSumOfAll() {
    String text = "# HELP x\nx_total{reason=\"a\"} 2.0\nx_total{reason=\"b\"} 3.0\nx_total_other 9\n";
    assertThat(Metrics.sum(text, "x_total")).isEqualTo(5);
  }

  @Test
  void liveHeapIsTheTotalOfAHistogram() {
    String histogram =
        """
         num     #instances         #bytes  class name
           1:            10            480  [B
        Total         11            504
        """;
    assertThat(Heap.liveBytes(histogram)).isEqualTo(504);
  }
}
