package io.lockkeeper.server.web.api;

import io.grpc.Channel;
import io.lockkeeper.server.security.Identity;
import java.net.InetSocketAddress;
import java.util.Optional;

/** The way to the services of gRPC, on which visitors are known as they are there. */
public interface ApiChannels {

  /**
   * Who makes a call.
   *
   * @param address from where
   * @param certified whom his certificate names, if he has shown one that is believed
   * @param bearerToken the token that he has sent, which counts before the certificate
   */
  record Caller(
      InetSocketAddress address, Optional<Identity> certified, Optional<String> bearerToken) {}

  /**
   * Returns a channel whose calls are the caller's.
   *
   * <p>A call that is cancelled counts as one whose connection broke: over HTTP nobody can tell a
   * visitor who has had enough from one who has crashed.
   */
  Channel as(Caller caller);
}
