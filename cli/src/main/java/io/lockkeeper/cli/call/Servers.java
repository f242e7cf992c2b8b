package io.lockkeeper.cli.call;

import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.AbstractBlockingStub;
import io.lockkeeper.cli.shell.CliException;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.cli.text.Text;
import io.lockkeeper.client.internal.transport.Endpoint;
import io.lockkeeper.client.internal.transport.Target;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.AdminServiceGrpc.AdminServiceBlockingStub;
import io.lockkeeper.v1.LockServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc.LockServiceBlockingStub;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Calls the first server that answers, and says in words what went wrong where none does. */
public final class Servers {

  private static final int CALL_SECONDS = 10;

  /** What Netty puts before the reason that the kernel gives. */
  private static final String NATIVE_CALL = "^\\S+ failed with error\\(-?\\d+\\): ";

  private final ServerOptions options;

  /** Calls those that the options name, as they say. */
  public Servers(ServerOptions options) {
    this.options = options;
  }

  /**
   * Makes a call that is answered once, within {@value #CALL_SECONDS} seconds for each server.
   *
   * @throws CliException if no server answers, or one refuses the request
   */
  public <T> T call(Function<LockServiceBlockingStub, T> call) {
    return within(Duration.ZERO, LockServiceGrpc::newBlockingStub, call);
  }

  /** Like {@link #call}, of the service for operators. */
  public <T> T admin(Function<AdminServiceBlockingStub, T> call) {
    return within(Duration.ZERO, AdminServiceGrpc::newBlockingStub, call);
  }

  /**
   * What one server has said.
   *
   * @param server where it is
   * @param answer its answer; empty: it gave none
   * @param failure why it gave none, human-readable; empty: it gave one
   */
  public record Answer<T>(String server, Optional<T> answer, String failure) {}

  /**
   * Asks each of the servers, and returns what each has said, in their order.
   *
   * @param call is made over a channel with a deadline of its own
   */
  public <T> List<Answer<T>> each(Function<Channel, T> call) {
    List<Answer<T>> answers = new ArrayList<>();
    for (Endpoint server : endpoints()) {
      ManagedChannel channel = options.channel(server);
      try {
        answers.add(new Answer<>(server.toString(), Optional.of(call.apply(channel)), ""));
      } catch (StatusRuntimeException e) {
        answers.add(new Answer<>(server.toString(), Optional.empty(), reason(e.getStatus())));
      } finally {
        channel.shutdownNow();
      }
    }
    return answers;
  }

  /**
   * Calls the one server that there is, which may take so long in addition.
   *
   * @throws CliException if several servers are named, or the one does not answer, or refuses
   */
  public <T> T only(Duration longer, Function<AdminServiceBlockingStub, T> call) {
    if (endpoints().size() != 1) {
      throw new CliException(ExitCodes.USAGE, "--server: must name one server, and no more");
    }
    return within(longer, AdminServiceGrpc::newBlockingStub, call);
  }

  /**
   * Makes a call that may take as long as it likes. If it ends with UNAVAILABLE the next server is
   * called.
   *
   * @throws CliException if no server answers, or one refuses the request
   */
  public <T> T stream(Function<LockServiceBlockingStub, T> call) {
    return ask(channel -> call.apply(LockServiceGrpc.newBlockingStub(channel)));
  }

  private <S extends AbstractBlockingStub<S>, T> T within(
      Duration longer, Function<Channel, S> stub, Function<S, T> call) {
    Duration limit = longer.plusSeconds(CALL_SECONDS);
    return ask(channel -> call.apply(stub.apply(channel).withDeadlineAfter(limit)));
  }

  private <T> T ask(Function<Channel, T> call) {
    List<String> failures = new ArrayList<>();
    for (Endpoint server : endpoints()) {
      ManagedChannel channel = options.channel(server);
      try {
        return call.apply(channel);
      } catch (StatusRuntimeException e) {
        if (!isUnavailable(e.getStatus())) {
          throw refused(e);
        }
        failures.add("  " + server + ": " + reason(e.getStatus()));
      } finally {
        channel.shutdownNow();
      }
    }
    throw new CliException(ExitCodes.UNAVAILABLE, unavailable(failures));
  }

  /** Returns the servers to try: as they are now, each time. */
  private List<Endpoint> endpoints() {
    return options.targets().stream().flatMap(target -> endpoints(target).stream()).toList();
  }

  private static List<Endpoint> endpoints(Target target) {
    try {
      return target.lookUp(Target.Resolver.SYSTEM);
    } catch (UnknownHostException e) {
      return List.of(target.asWritten()); // gRPC fails likewise, and says so with the others.
    }
  }

  private static boolean isUnavailable(Status status) {
    return status.getCode() == Status.Code.UNAVAILABLE
        || status.getCode() == Status.Code.DEADLINE_EXCEEDED;
  }

  /** Returns what to say when no server answers. */
  public String unavailable(List<String> failures) {
    return "no Lockkeeper server answers:\n"
        + String.join("\n", failures)
        + "\nIs one running there (\"lockkeeper dev\" starts one on this machine), is the address right (--server or"
        + " LOCKKEEPER_SERVER), and "
        + (options.usesTls()
            ? "does it talk TLS"
                + (options.showsCertificate()
                    ? "?"
                    : ", without a certificate of ours (else give --cert and --key)?")
            : "does it talk plaintext (else give --tls or --ca)?");
  }

  private static CliException refused(StatusRuntimeException e) {
    String description = e.getStatus().getDescription();
    int exitCode =
        switch (e.getStatus().getCode()) {
          case INVALID_ARGUMENT -> ExitCodes.USAGE;
          default -> ExitCodes.FAILED;
        };
    return new CliException(
        exitCode,
        "the server refuses: "
            + (description == null ? e.getStatus().getCode() : Text.plain(description))
            + whoWeAre(e.getStatus().getCode()),
        e);
  }

  /** Returns what to do about a refusal that depends on who asks; empty if it does not. */
  public static String whoWeAre(Status.Code code) {
    return switch (code) {
      case UNAUTHENTICATED ->
          "\nSay who you are: with --cert and --key, or --token-file (LOCKKEEPER_AUTH_TOKEN).";
      case PERMISSION_DENIED ->
          "\nAs somebody else it may be permitted: --cert and --key, or --token-file"
              + " (LOCKKEEPER_AUTH_TOKEN), say who you are.";
      default -> "";
    };
  }

  /** Returns the innermost reason: gRPC wraps "connection refused" in "io exception". */
  public static String reason(Status status) {
    if (status.getCode() == Status.Code.DEADLINE_EXCEEDED) {
      return "no answer within " + CALL_SECONDS + " s";
    }
    Throwable cause = status.getCause();
    while (cause != null && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause != null && cause.getMessage() != null) {
      return Text.plain(cause.getMessage().replaceFirst(NATIVE_CALL, ""));
    }
    return status.getDescription() == null
        ? status.getCode().toString()
        : Text.plain(status.getDescription());
  }
}
