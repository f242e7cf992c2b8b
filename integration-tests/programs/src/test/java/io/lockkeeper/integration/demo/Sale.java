package io.lockkeeper.integration.demo;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One sale: two shop processes that share a stock. */
final class Sale implements AutoCloseable {

  private static final List<String> SHOPS = List.of("north", "south");
  private static final long PATIENCE_SECONDS = 90;

  private final Tally tally;
  private final List<Process> shops = new ArrayList<>();
  private final CountDownLatch ready = new CountDownLatch(SHOPS.size());
  private final CountDownLatch closed = new CountDownLatch(SHOPS.size());

  private Sale(Tally tally) {
    this.tally = tally;
  }

  /** Starts the shops, and the sale once all are ready. */
  static Sale start(Tally tally, int buyers, Path stock, List<String> server)
      throws IOException, InterruptedException {
    Sale sale = new Sale(tally);
    for (String name : SHOPS) {
      List<String> command = new ArrayList<>(List.of(Demo.JAVA, "-Xmx128m", "-cp"));
      command.add(System.getProperty("java.class.path"));
      command.addAll(List.of(Shop.class.getName(), name));
      command.addAll(List.of(Integer.toString(buyers / SHOPS.size()), stock.toString()));
      command.addAll(server);
      File log = stock.resolveSibling("shop-" + name + ".log").toFile();
      Process shop = new ProcessBuilder(command).redirectError(Redirect.appendTo(log)).start();
      sale.shops.add(shop);
      Thread reader = new Thread(() -> sale.listenTo(shop), "shop-" + name);
      reader.setDaemon(true);
      reader.start();
    }
    if (!sale.ready.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the shops do not open");
    }
    for (Process shop : sale.shops) {
      OutputStream in = shop.getOutputStream();
      in.write('\n');
      in.flush();
    }
    return sale;
  }

  private void listenTo(Process shop) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(shop.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        tally.hear(line);
        if (line.equals("ready")) {
          ready.countDown();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      closed.countDown();
    }
  }

  /** Waits so long, and returns whether all shops have closed. */
  boolean awaitClosed(long millis) throws InterruptedException {
    return closed.await(millis, TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    shops.forEach(Process::destroyForcibly);
  }
}
