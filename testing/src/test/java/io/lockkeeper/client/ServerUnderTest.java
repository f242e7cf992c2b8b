package io.lockkeeper.client;

import java.util.function.Supplier;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * The server that a class of contracts runs against; as its extension, each contract is given it.
 */
public final class ServerUnderTest implements ParameterResolver {

  private final Supplier<LockkeeperClientBuilder> builders;

  /** Tells of a server by the builders of its clients. */
  public ServerUnderTest(Supplier<LockkeeperClientBuilder> builders) {
    this.builders = builders;
  }

  /** Returns a new builder of clients of the server. */
  LockkeeperClientBuilder clientBuilder() {
    return builders.get();
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    return parameter.getParameter().getType() == ServerUnderTest.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
    return this;
  }
}
