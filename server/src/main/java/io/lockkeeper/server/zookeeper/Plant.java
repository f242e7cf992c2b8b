package io.lockkeeper.server.zookeeper;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Faults that are planted on request, to see whether the tests would find them. */
enum Plant {
  /** Claims are not checked: a deposed coordinator goes on writing. */
  SKIP_EPOCH_CHECK("skip-epoch-check"),
  /** What was missed while the mirror was out of touch is not read back, and grants go on. */
  SKIP_STALE_MIRROR("skip-stale-mirror");

  private static final Logger LOG = LoggerFactory.getLogger(Plant.class);
  private static final String WANTED = System.getProperty("lockkeeper.plant", "");

  private final String title;

  Plant(String title) {
    this.title = title;
  }

  boolean isPlanted() {
    return title.equals(WANTED);
  }

  /** Says loudly what is planted, if anything is. */
  static void warn() {
    for (Plant plant : values()) {
      if (plant.isPlanted()) {
        LOG.atWarn()
            .addKeyValue("fault", plant.title)
            .log(
                "A FAULT IS PLANTED: locks will be held twice. Never run this with data that matter");
      }
    }
  }
}
