package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What it costs to know who calls: the same work on a coordinator that is open to all. */
final class SecuredRow extends OwnRow {

  private static final int CLIENTS = 256;
  private static final String OPEN = "own-256";
  private static final String CERTIFICATE = "mutual-tls";
  private static final String TOKEN = "token";

  SecuredRow() {
    super("secured-256");
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    if (Secured.isSkipped(label())) {
      return;
    }
    Map<String, Scene> scenes = new LinkedHashMap<>();
    scenes.put(OPEN, stage.scene(Subject.LOCKKEEPER));
    scenes.put(CERTIFICATE, stage.certified());
    scenes.put(TOKEN, stage.secured().withToken());
    Order order = new Order(Shape.OWN, CLIENTS, settings.rampMillis(), settings.millis(), 0, 0);
    measureInTurn(scenes, order, settings, results);
    for (String way : List.of(CERTIFICATE, TOKEN)) {
      results.ratio(
          label() + "/" + way, results.median(label(), way) / results.median(label(), OPEN));
    }
  }
}
