package io.lockkeeper.integration.chaos;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A process of several Java clients. Works until a line comes on its standard input, then finishes
 * what it has begun; dies when its input ends.
 */
final class ClientMain {

  private static final long LOOK_MILLIS = 200;

  private ClientMain() {}

  /** Arguments: process name, servers, port of the registers, history file, clients, seed. */
  public static void main(String[] args) throws InterruptedException {
    CountDownLatch stop = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    daemon(() -> awaitStop(stop));
    try (History history = History.at(Path.of(args[3]))) {
      history.line("begin").with("process", args[0]).write();
      Promises promises = new Promises(history);
      Hand.Setting setting =
          new Hand.Setting(args[0], args[1], Integer.parseInt(args[2]), history, promises, stop);
      daemon(() -> look(promises, done));
      SplittableRandom random = new SplittableRandom(Long.parseLong(args[5]));
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < Integer.parseInt(args[4]); i++) {
        Thread thread = new Thread(new Hand(setting, i, random.split()), "hand-" + i);
        threads.add(thread);
        thread.start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      history.line("end").with("process", args[0]).write();
    } finally {
      done.countDown();
    }
  }

  private static void look(Promises promises, CountDownLatch done) {
    try {
      while (!done.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        promises.look();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void awaitStop(CountDownLatch stop) {
    try {
      byte[] line = new byte[16];
      while (System.in.read(line) > 0) {
        System.out.println("told: " + new String(line, StandardCharsets.US_ASCII).strip());
        stop.countDown();
      }
    } catch (IOException e) {
      System.err.println("standard input broke: " + e);
    }
    Runtime.getRuntime().halt(3);
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "client-main");
    thread.setDaemon(true);
    thread.start();
  }
}
