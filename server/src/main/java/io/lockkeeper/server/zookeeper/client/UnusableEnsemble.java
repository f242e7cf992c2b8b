package io.lockkeeper.server.zookeeper.client;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the first reason why an ensemble cannot be used at all, and logs them all. */
public final class UnusableEnsemble implements Consumer<String> {

  private static final Logger LOG = LoggerFactory.getLogger(UnusableEnsemble.class);

  private final Consumer<String> listener;
  private final AtomicBoolean told = new AtomicBoolean();

  public UnusableEnsemble(Consumer<String> listener) {
    this.listener = listener;
  }

  @Override
  public void accept(String problem) {
    LOG.atError().addKeyValue("problem", problem).log("this ZooKeeper cannot be used");
    if (told.compareAndSet(false, true)) {
      listener.accept(problem);
    }
  }
}
