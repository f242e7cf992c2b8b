package io.lockkeeper.server.testing;

import java.io.IOException;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/**
 * One ZooKeeper server that ends with the process that started it: at the end of its standard
 * input.
 */
final class ZooKeeperMain {

  private ZooKeeperMain() {}

  /** Runs a server; the one argument is its configuration file. */
  public static void main(String[] args) {
    Thread watch = new Thread(ZooKeeperMain::haltAtEndOfInput, "end-of-input");
    watch.setDaemon(true);
    watch.start();
    QuorumPeerMain.main(args);
  }

  private static void haltAtEndOfInput() {
    try {
      while (System.in.read() >= 0) {
        // Nobody writes; only the end matters.
      }
    } catch (IOException e) {
      System.err.println("standard input broke: " + e);
    }
    Runtime.getRuntime().halt(0);
  }
}
