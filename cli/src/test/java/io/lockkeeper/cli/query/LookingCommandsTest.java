package io.lockkeeper.cli.query;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.Duration;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.lockkeeper.cli.Cli;
import io.lockkeeper.cli.FakeLockService;
import io.lockkeeper.cli.shell.ExitCodes;
import io.lockkeeper.v1.CallerLimits;
import io.lockkeeper.v1.CheckTokenRequest;
import io.lockkeeper.v1.Contender;
import io.lockkeeper.v1.CoordinatorState;
import io.lockkeeper.v1.CredentialKind;
import io.lockkeeper.v1.Frozen;
import io.lockkeeper.v1.LeaseState;
import io.lockkeeper.v1.LockState;
import io.lockkeeper.v1.WhoAmIRequest;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands that look: what they print, as JSON too, and how they fail. */
class LookingCommandsTest {

  private static final String ALICE = "aaaaaaaaaaaaaaaa";
  private static final String BOB = "bbbbbbbbbbbbbbbb";

  @AutoClose private final FakeLockService server = new FakeLockService();

  private Cli run(String... args) {
    List<String> all = new ArrayList<>(Arrays.asList(args));
    all.addAll(List.of("--server", server.address()));
    return Cli.run(all.toArray(String[]::new));
  }

  private static JsonObject json(String line) {
    return JsonParser.parseString(line).getAsJsonObject();
  }

  private static Duration seconds(long seconds) {
    return Duration.newBuilder().setSeconds(seconds).build();
  }

  private static Contender.Builder contender(String tag, String holder) {
    return FakeLockService.contender(holder).setLeaseTag(tag);
  }

  private static LockState lock(String name, Contender.Builder holder, Contender.Builder... queue) {
    LockState.Builder lock =
        LockState.newBuilder()
            .setName(name)
            .addHolders(holder.setHeldFor(seconds(65)).setFencingToken(7))
            .setQueueLength(queue.length);
    for (Contender.Builder waiter : queue) {
      lock.addQueue(waiter.setQueuedFor(seconds(5)));
    }
    return lock.build();
  }

  private void deadlock() {
    server.locks.add(
        lock(
            "orders/1",
            contender(ALICE, "alice@ci").putMetadata("purpose", "nightly"),
            contender(BOB, "bob@ci")));
    server.locks.add(lock("orders/2", contender(BOB, "bob@ci"), contender(ALICE, "alice@ci")));
  }

  @Test
  void listsPrintNamesOnlyWhenToldSo() {
    // Given
    deadlock();
    server.leases.add(LeaseState.newBuilder().setLeaseTag(ALICE).build());
    // When // Then
    assertThat(run("ls", "-o", "name").out().lines()).containsExactly("orders/1", "orders/2");
    assertThat(run("top", "-o", "name", "-c", "1").out().lines()).hasSize(1);
    assertThat(run("tree", "-o", "name").out().lines())
        .containsExactly("orders/", "orders/1", "orders/2");
    assertThat(run("leases", "-o", "name").out().lines()).containsExactly(ALICE);
  }

  @Test
  void treeCountsEachBranch() {
    // Given
    deadlock();
    server.locks.add(LockState.newBuilder().setName("pay/card/1").setQueueLength(3).build());
    // When
    Cli tree = run("tree");
    Cli flat = run("tree", "--depth", "1", "--json");
    // Then
    assertThat(tree.out().lines())
        .containsExactly(
            "2 held, 5 waiting",
            "├── orders/  2 held, 2 waiting",
            "│   ├── 1  held, 1 waiting",
            "│   └── 2  held, 1 waiting",
            "└── pay/  0 held, 3 waiting",
            "    └── card/  0 held, 3 waiting",
            "        └── 1  0 held, 3 waiting");
    assertThat(flat.out().lines())
        .containsExactly(
            "{\"name\":\"orders/\",\"locks\":2,\"held\":2,\"waiting\":2}",
            "{\"name\":\"pay/\",\"locks\":1,\"held\":0,\"waiting\":3}");
  }

  @Test
  void topShowsTheLongestQueuesFirst() {
    // Given
    deadlock();
    server.locks.add(LockState.newBuilder().setName("pay").setQueueLength(3).build());
    // When
    Cli top = run("top");
    Cli two = run("top", "--count", "2", "--json");
    // Then
    assertThat(top.out().lines())
        .containsExactly(
            "2 held, 5 waiting",
            "",
            "WAITING  LOCK      HELD BY   FOR      PURPOSE",
            "3        pay       -         -        -",
            "1        orders/1  alice@ci  1 m 5 s  nightly",
            "1        orders/2  bob@ci    1 m 5 s  -");
    assertThat(two.out().lines().map(line -> json(line).get("name").getAsString()))
        .containsExactly("pay", "orders/1");
  }

  @Test
  void whySaysHolderPurposeLeaseAndTheCycle() {
    // Given
    deadlock();
    server.leases.add(
        LeaseState.newBuilder()
            .setLeaseTag(ALICE)
            .setTtl(seconds(15))
            .setRemaining(seconds(12))
            .build());
    // When
    Cli why = run("why", "orders/1");
    // Then
    assertThat(why.exitCode()).isZero();
    assertThat(why.out().lines())
        .containsExactly(
            "orders/1 is held, and 1 waits for it.",
            "Holder: alice@ci, exclusive, for 1 m 5 s; nightly",
            "  Its lease aaaaaaaaaaaaaaaa lives 15 s without a keep-alive: if its client is gone, 12 s"
                + " more.",
            "alice@ci itself waits for orders/2, held by bob@ci for 1 m 5 s.",
            "bob@ci itself waits for orders/1, held by alice@ci for 1 m 5 s.",
            "That closes a cycle: none of them goes on before one gives up (deadlock).",
            "Waiter 1: bob@ci, exclusive, for 5 s");
  }

  @Test
  void whyAsJsonHasTheChain() {
    // Given
    deadlock();
    // When
    JsonObject why = json(run("why", "orders/1", "--json").out());
    // Then
    assertThat(why.get("cycle").getAsBoolean()).isTrue();
    assertThat(why.getAsJsonArray("chain")).hasSize(2);
    assertThat(why.getAsJsonObject("lock").get("name").getAsString()).isEqualTo("orders/1");
  }

  @Test
  void whyOfAFrozenOrDelayedLockSaysSo() {
    // Given
    server.locks.add(
        LockState.newBuilder()
            .setName("pay")
            .setFrozen(Frozen.newBuilder().setReason("migration"))
            .setDelayedFor(seconds(9))
            .setQueueLength(1)
            .addQueue(contender(BOB, "bob@ci"))
            .build());
    // When
    Cli frozen = run("why", "pay");
    Cli free = run("why", "other");
    // Then
    assertThat(frozen.out())
        .contains(
            "pay is held by nobody, and 1 waits for it.",
            "It is frozen: migration: nobody new",
            "next grant comes in 9 s");
    assertThat(free.out()).isEqualTo("other is free, and nobody waits for it.\n");
  }

  @Test
  void waitOfAnotherOwnerOfTheLeaseIsNoCycle() {
    // Given
    server.locks.add(
        lock("orders/1", contender(ALICE, "alice@ci").setOwner("t1"), contender(BOB, "bob@ci")));
    server.locks.add(
        lock("orders/2", contender(BOB, "bob@ci"), contender(ALICE, "alice@ci").setOwner("t2")));
    // When // Then
    assertThat(run("why", "orders/1").out()).doesNotContain("itself waits", "cycle");
  }

  @Test
  void leasesAreListedAndOneIsShownWithWhatItHoldsAndWaitsFor() {
    // Given
    deadlock();
    server.leases.add(
        LeaseState.newBuilder()
            .setLeaseTag(ALICE)
            .setHolder("alice@ci")
            .setTtl(seconds(15))
            .setRemaining(seconds(12))
            .setAcquisitionCount(2)
            .build());
    // When
    Cli list = run("leases");
    Cli same = run("leases", "list");
    Cli show = run("leases", "show", ALICE);
    JsonObject one = json(run("leases", "show", ALICE, "--json").out());
    // Then
    assertThat(list.out().lines())
        .containsExactly(
            "LEASE             HOLDER    REQUESTS  TTL   LEFT",
            "aaaaaaaaaaaaaaaa  alice@ci  2         15 s  12 s");
    assertThat(same.out()).isEqualTo(list.out());
    assertThat(show.out())
        .contains(
            "lease aaaaaaaaaaaaaaaa of alice@ci", "holds      orders/1", "waits for  orders/2");
    assertThat(one.getAsJsonArray("holds").get(0).getAsString()).isEqualTo("orders/1");
  }

  @Test
  void leaseThatNobodyServesIsAFailure() {
    // When
    Cli result = run("leases", "show", BOB);
    // Then
    assertThat(result.err()).contains("no lease " + BOB);
    assertThat(result.exitCode()).isEqualTo(ExitCodes.FAILED);
  }

  @Test
  void whoamiSaysNameProofRightsAndLimits() {
    // Given
    server
        .caller
        .setIdentity("jwt:alice")
        .addNames("jwt:alice")
        .setCredential(CredentialKind.CREDENTIAL_KIND_JWT)
        .setAddress("10.0.0.7:4711")
        .addRights("read")
        .addRights("acquire")
        .setLimits(CallerLimits.newBuilder().setLeases(3).setMaxTtl(seconds(60)));
    // When
    Cli me = run("whoami", "pay/");
    Cli json = run("whoami", "--json");
    // Then
    assertThat(me.out())
        .contains(
            "jwt:alice, by a JWT",
            "10.0.0.7:4711",
            "read, acquire (on all locks under pay/)",
            "3 leases",
            "TTL up to 1 m");
    assertThat(json.out()).contains("\"identity\":\"jwt:alice\"").hasLineCount(1);
    assertThat(server.requests)
        .first()
        .isEqualTo(WhoAmIRequest.newBuilder().setPrefix("pay/").build());
  }

  @Test
  void exitCodeOfTokenCheckTellsWhetherItHolds() {
    // Given
    server.token.setCurrent(true);
    // When
    Cli current = run("token", "check", "orders/1", "7");
    server.token.setCurrent(false).addCurrentTokens(8);
    Cli stale = run("token", "check", "orders/1", "7");
    Cli json = run("token", "check", "orders/1", "7", "--json");
    // Then
    assertThat(current.out()).isEqualTo("token 7 holds orders/1\n");
    assertThat(current.exitCode()).isZero();
    assertThat(stale.out()).isEqualTo("token 7 does not hold orders/1: it is held with 8\n");
    assertThat(stale.exitCode()).isEqualTo(ExitCodes.FREE);
    assertThat(json.out()).isEqualTo("{\"currentTokens\":[\"8\"]}\n");
    assertThat(server.requests)
        .first()
        .isEqualTo(CheckTokenRequest.newBuilder().setName("orders/1").setFencingToken(7).build());
  }

  @Test
  void statusSaysOfEachServerWhetherItServes() throws IOException {
    // Given
    server.caller.setVersion("1.2.3").setCoordinatorId("c-1");
    server
        .cluster
        .addCoordinators(CoordinatorState.newBuilder().setServing(true))
        .setSessionCount(4)
        .addFrozen(Frozen.newBuilder().setPrefix("pay/").setReason("migration"));
    String gone = "localhost:" + closedPort();
    // When
    Cli well = run("status");
    Cli half = Cli.run("status", "--server", server.address() + "," + gone);
    Cli json = run("status", "--json");
    // Then
    assertThat(well.exitCode()).isZero();
    assertThat(well.out())
        .contains(
            "serving", "1.2.3", "c-1", "1 of 1 server serves", "sessions   4", "frozen     pay/");
    assertThat(half.exitCode()).isEqualTo(ExitCodes.FAILED);
    assertThat(half.out()).contains(gone, "no answer: Connection refused");
    assertThat(json(json.out()).getAsJsonArray("servers").get(0).getAsJsonObject().get("serving"))
        .hasToString("true");
  }

  @Test
  void serverThatDoesNotServeIsAFailureOfTheStatus() {
    // Given
    server.health.setStatus("", ServingStatus.NOT_SERVING);
    // When
    Cli result = run("status");
    // Then
    assertThat(result.out()).contains("not serving");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.FAILED);
  }

  @Test
  void statusWithoutTheRightToSeeTheClusterShowsTheServer() {
    // Given
    server.refusal = Optional.of(Status.PERMISSION_DENIED);
    // When
    Cli result = run("status");
    // Then
    assertThat(result.out()).contains("serving").doesNotContain("cluster");
    assertThat(result.exitCode()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ls",
        "tree",
        "top",
        "show a",
        "why a",
        "leases",
        "leases show a",
        "whoami",
        "status",
        "cluster",
        "token check a 1",
        "watch",
        "bench",
        "run a -- true",
        "hold a",
        "elect a"
      })
  void serverThatIsNotThereIsNamedWithTheReason(String command) throws IOException {
    // Given
    String address = "localhost:" + closedPort();
    // When
    Cli result = Cli.run(withServer(command, address).toArray(String[]::new));
    // Then
    assertThat(result.err())
        .startsWith("lockkeeper: no Lockkeeper server answers:\n  " + address + ": ")
        .contains("Connection refused", "lockkeeper dev", "LOCKKEEPER_SERVER")
        .doesNotContain("\tat ");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.UNAVAILABLE);
  }

  /** The option goes before the dashes, or last. */
  private static List<String> withServer(String command, String address) {
    List<String> args = new ArrayList<>(List.of(command.split(" ")));
    int dashes = args.indexOf("--");
    args.addAll(dashes < 0 ? args.size() : dashes, List.of("--server", address));
    return args;
  }

  @Test
  void limitThatIsReachedIsSaidAsARefusalAtOnce() {
    // Given
    server.refusal =
        Optional.of(
            Status.RESOURCE_EXHAUSTED.withDescription("'shop' has its limit of 3 open streams"));
    // When
    Cli result = Cli.run("run", "a", "--server", server.address(), "--", "true");
    // Then
    assertThat(result.err())
        .contains("the server refused", "limit of 3 open streams")
        .doesNotContain("no Lockkeeper server answers");
    assertThat(result.exitCode()).isEqualTo(ExitCodes.FAILED);
  }

  private static int closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
