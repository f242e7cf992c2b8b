package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order;
import io.lockkeeper.bench.load.Order.Shape;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** What it costs to encrypt, and to know who calls: the same work on a coordinator without. */
final class SecuredRow extends OwnRow {

  private static final int CLIENTS = 256;
  private static final String OPEN = "own-256";

  private final Scenes scenes;

  /** The coordinators and loads that are compared with one that is open to all. */
  private interface Scenes {
    void addTo(Map<String, Scene> scenes, Stage stage) throws IOException, InterruptedException;
  }

  private SecuredRow(String label, Scenes scenes) {
    super(label);
    this.scenes = scenes;
  }

  /** Encryption alone. */
  static SecuredRow ofTls() {
    return new SecuredRow("tls-256", (scenes, stage) -> scenes.put("tls", stage.encrypted()));
  }

  /** Encryption, callers with names, a policy of many rules and an audit. */
  static SecuredRow ofPolicy() {
    return new SecuredRow(
        "policy-256",
        (scenes, stage) -> {
          scenes.put("mutual-tls", stage.certified());
          scenes.put("token", stage.secured().withToken());
        });
  }

  @Override
  public void run(Settings settings, Stage stage, Results results)
      throws IOException, InterruptedException {
    if (Secured.isSkipped(label())) {
      return;
    }
    Map<String, Scene> compared = new LinkedHashMap<>();
    compared.put(OPEN, stage.scene(Subject.LOCKKEEPER));
    scenes.addTo(compared, stage);
    Order order = new Order(Shape.OWN, CLIENTS, settings.rampMillis(), settings.millis(), 0, 0);
    measureInTurn(compared, order, settings, results);
    for (String way : compared.keySet()) {
      if (!way.equals(OPEN)) {
        results.ratio(
            label() + "/" + way, results.median(label(), way) / results.median(label(), OPEN));
      }
    }
  }
}
