package io.lockkeeper.cli.call;

import io.grpc.ChannelCredentials;
import io.grpc.CompositeChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.shell.Logging;
import io.lockkeeper.client.LockkeeperClientBuilder;
import io.lockkeeper.client.internal.transport.BearerToken;
import io.lockkeeper.client.internal.transport.Endpoint;
import io.lockkeeper.client.internal.transport.Target;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** Which servers to talk to, and how. */
public final class ServerOptions {

  private static final String VARIABLE = "LOCKKEEPER_SERVER";
  private static final String DEFAULT = "localhost:7420";
  private static final String TOKEN_VARIABLE = "LOCKKEEPER_AUTH_TOKEN";
  private static final int MAX_TOKEN_BYTES = 64 * 1024;
  private static final long KEEP_ALIVE_SECONDS = 10;

  @Option(
      names = "--server",
      paramLabel = "HOST:PORT,...",
      description = {
        "The servers, in the order to try them. A name with several addresses stands for all of them.",
        "[default " + DEFAULT + ", env " + VARIABLE + "]"
      })
  private Optional<String> servers = Optional.empty();

  @Option(names = "--tls", description = "Talk TLS; implied by --ca and --cert.")
  private boolean tls;

  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description =
          "The authorities (PEM) one of which must have signed the server's certificate. [default: Java's own]")
  private Optional<File> ca = Optional.empty();

  @Option(
      names = "--cert",
      paramLabel = "FILE",
      description = "Our certificate chain (PEM), for mutual TLS.")
  private Optional<File> cert = Optional.empty();

  @Option(
      names = "--key",
      paramLabel = "FILE",
      description = "The private key of --cert (PEM, PKCS#8).")
  private Optional<File> key = Optional.empty();

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = {
        "A file with the token that says who we are; read again for each call, so it may be renewed. Sent over TLS only, or to"
            + " this machine. Without it, the variable is the token.",
        "[default: no token, env " + TOKEN_VARIABLE + "]"
      })
  private Optional<Path> tokenFile = Optional.empty();

  @Option(names = "--verbose", description = "Log what happens underneath on standard error.")
  private boolean verbose;

  /** Sets up logging; before anything that logs. */
  public void prepare() {
    Logging.level(verbose ? "DEBUG" : "ERROR");
  }

  /** Returns the servers as they are named. */
  public List<Target> targets() {
    String variable = System.getenv(VARIABLE);
    String source = servers.isPresent() ? "--server" : VARIABLE;
    String text = servers.orElse(variable == null || variable.isEmpty() ? DEFAULT : variable);
    try {
      return Target.parseList(text);
    } catch (IllegalArgumentException e) {
      throw new CliException(ExitCodes.USAGE, source + ": " + e.getMessage(), e);
    }
  }

  /** Returns whether TLS is spoken. */
  public boolean usesTls() {
    return tls || ca.isPresent() || cert.isPresent();
  }

  /** Returns whether we show a certificate. */
  public boolean showsCertificate() {
    return cert.isPresent();
  }

  /** Opens a channel to one server; nothing is sent before the first call. */
  public ManagedChannel channel(Endpoint server) {
    return server
        .channelBuilder(credentials())
        .keepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
        .keepAliveTimeout(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
        .build();
  }

  /** Lets a client connect as the options say. */
  public LockkeeperClientBuilder connect(LockkeeperClientBuilder client) {
    var unused = credentials(); // What is wrong with them is said now.
    return client.credentials(this::credentials);
  }

  private ChannelCredentials credentials() {
    ChannelCredentials channel = channelCredentials();
    Optional<Supplier<String>> token = token();
    if (token.isEmpty()) {
      return channel;
    }
    for (Target target : targets()) {
      if (!usesTls() && !target.isLoopback()) {
        throw new CliException(
            ExitCodes.USAGE,
            "the token is not sent in plaintext to " + target + ": give --tls or --ca");
      }
    }
    return CompositeChannelCredentials.create(channel, new BearerToken(token.get()));
  }

  private Optional<Supplier<String>> token() {
    if (tokenFile.isPresent()) {
      Path file = tokenFile.get();
      try {
        var unused = read(file);
      } catch (UncheckedIOException e) {
        throw new CliException(ExitCodes.USAGE, "--token-file: " + e.getMessage(), e);
      }
      return Optional.of(() -> read(file));
    }
    String variable = System.getenv(TOKEN_VARIABLE);
    return variable == null || variable.isBlank() ? Optional.empty() : Optional.of(variable::strip);
  }

  private static String read(Path file) {
    try {
      if (!Files.isRegularFile(file)) {
        throw new IOException(Files.exists(file) ? "it is not a file" : "it does not exist");
      }
      if (Files.size(file) > MAX_TOKEN_BYTES) {
        throw new IOException("it has more than " + MAX_TOKEN_BYTES + " bytes");
      }
      return Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file + ": " + e.getMessage(), e);
    }
  }

  private ChannelCredentials channelCredentials() {
    if (!usesTls()) {
      if (key.isPresent()) {
        throw new CliException(ExitCodes.USAGE, "--key: needs --cert as well");
      }
      return InsecureChannelCredentials.create();
    }
    if (cert.isPresent() != key.isPresent()) {
      throw new CliException(ExitCodes.USAGE, "mutual TLS needs both --cert and --key");
    }
    TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
    String options = "--ca";
    try {
      if (ca.isPresent()) {
        builder.trustManager(ca.get());
      }
      options = "--cert, --key";
      if (cert.isPresent()) {
        builder.keyManager(cert.get(), key.orElseThrow());
      }
      return builder.build();
    } catch (IOException | IllegalArgumentException e) {
      throw new CliException(
          ExitCodes.USAGE, options + ": cannot read the TLS files: " + e.getMessage(), e);
    }
  }
}
