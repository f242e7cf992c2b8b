package io.lockkeeper.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Duration;
import io.grpc.Status;
import io.lockkeeper.cli.Cli;
import io.lockkeeper.cli.FakeLockService;
import io.lockkeeper.cli.call.Me;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.v1.ConfigureLockRequest;
import io.lockkeeper.v1.ForceReleaseRequest;
import io.lockkeeper.v1.LockMode;
import io.lockkeeper.v1.RequestReleaseRequest;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class HolderCommandsTest {

  @AutoClose private final FakeLockService server = new FakeLockService();

  private Cli run(String... args) {
    String[] all = new String[args.length + 2];
    System.arraycopy(args, 0, all, 0, args.length);
    all[args.length] = "--server";
    all[args.length + 1] = server.address();
    return Cli.run(all);
  }

  @Test
  void releaseRequestSaysWhoAsksAndWhoWasAsked() {
    // Given
    server.asked.add(
        FakeLockService.contender("alice@ci").setMode(LockMode.LOCK_MODE_READ).build());
    // When
    Cli result =
        run("release-request", "orders/42", "--reason", "maintenance", "--deadline", "1500ms");
    // Then
    RequestReleaseRequest sent = (RequestReleaseRequest) server.requests.get(0);
    assertThat(sent.getName()).isEqualTo("orders/42");
    assertThat(sent.getReason()).isEqualTo("maintenance");
    assertThat(sent.getDeadline()).isEqualTo(of(1, 500_000_000));
    assertThat(sent.getRequester()).isEqualTo(Me.atHost()).isNotEmpty();
    assertThat(result.out().lines()).containsExactly("asked alice@ci (read)");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void releaseRequestOfAFreeLockIsNoError() {
    // When
    Cli result = run("release-request", "orders/42");
    // Then
    RequestReleaseRequest sent = (RequestReleaseRequest) server.requests.get(0);
    assertThat(sent.hasDeadline()).isFalse();
    assertThat(sent.getReason()).isEmpty();
    assertThat(result.out().lines()).containsExactly("nobody holds orders/42");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void forceReleaseSaysHowManyLostTheLock() {
    // Given
    server.forced.setReleased(1);
    // When
    Cli result = run("force-release", "orders/42", "--token", "77", "--reason", "stuck");
    // Then
    ForceReleaseRequest sent = (ForceReleaseRequest) server.requests.get(0);
    assertThat(sent.getName()).isEqualTo("orders/42");
    assertThat(sent.getFencingToken()).isEqualTo(77);
    assertThat(sent.getReason()).isEqualTo("stuck");
    assertThat(sent.hasGrace()).isFalse();
    assertThat(result.out().lines()).containsExactly("1 holder lost orders/42");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void forceReleaseWithAGraceSaysWhatComes() {
    // Given
    server.forced.setAsked(2);
    // When
    Cli result = run("force-release", "orders/42", "--grace", "30s");
    // Then
    ForceReleaseRequest sent = (ForceReleaseRequest) server.requests.get(0);
    assertThat(sent.getGrace()).isEqualTo(of(30, 0));
    assertThat(sent.getFencingToken()).isZero();
    assertThat(result.out().lines())
        .containsExactly(
            "2 holders asked; orders/42 is taken away in 30 s from who still holds it then");
  }

  @Test
  void forceReleaseOfAFreeLockFails() {
    // Given
    server.refusal = Optional.of(Status.NOT_FOUND.withDescription("nobody holds orders/42"));
    // When
    Cli result = run("force-release", "orders/42");
    // Then
    assertThat(result.err()).contains("nobody holds orders/42");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.FAILED);
  }

  @Test
  void limitIsSetAndTakenBack() {
    // When
    Cli set = run("limit", "pool", "5");
    server.previousLimit = 5;
    Cli unset = run("limit", "pool", "none");
    // Then
    assertThat(server.requests)
        .containsExactly(
            ConfigureLockRequest.newBuilder().setName("pool").setLimit(5).build(),
            ConfigureLockRequest.newBuilder().setName("pool").build());
    assertThat(set.out().lines()).containsExactly("pool has a limit of 5");
    assertThat(unset.out().lines())
        .containsExactly("pool has the limit that requests name (before: 5)");
    assertThat(set.exitCode() + unset.exitCode()).isZero();
  }

  private static Duration of(long seconds, int nanos) {
    return Duration.newBuilder().setSeconds(seconds).setNanos(nanos).build();
  }
}
