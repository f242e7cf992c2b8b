package io.lockkeeper.spring.autoconfigure;

import io.lockkeeper.client.LockkeeperClientBuilder;

/** A bean that changes the client's builder after the properties have been applied. */
@FunctionalInterface
public interface LockkeeperClientBuilderCustomizer {

  /** Changes the builder. */
  void customize(LockkeeperClientBuilder builder);
}
