package io.lockkeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.server.app.Profile;
import io.lockkeeper.server.app.Setting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

class MainTest {

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "lss                                  | there is no command \"lss\"",
        "lss                                  | Did you mean",
        "run orders/42 ls -l                  | lockkeeper run orders/42 -- ls -l",
        "run orders/42 -n -w 5 -- true        | --no-wait: not together with --wait",
        "run orders/42 -E 300 -- true         | --conflict-exit-code: must be 0 to 255, is 300",
        "elect reports make -j 2              | lockkeeper elect reports -- make -j 2",
        "hold                                 | Missing required parameter: 'LOCK'",
        "hold a a                             | a",
        "top --interval 1ms                   | --interval: must be 500ms to 25s, is 1ms",
        "top --count 0                        | --count: must be 1 to 1000, is 0",
        "tree --depth 0                       | --depth: must be 1 to 64, is 0",
        "why                                  | Missing required parameter: 'LOCK'",
        "token                                | Missing required parameter: 'NAME'",
        "token check a zero                   | \"zero\" is not a number above zero",
        "token check a 0                      | \"0\" is not a number above zero",
        "leases show                          | Missing required parameter: 'LEASE'",
        "bench --clients 0                    | --clients: must be 1 to 1000, is 0",
        "bench --duration 1ms                 | --duration: must be 100ms to 1h, is 1ms",
        "completion csh                       | bash|zsh|fish",
        "ls -o yaml                           | --output",
        "run                                  | Missing required parameter",
        "run orders/42                        | Missing required parameter: 'COMMAND'",
        "run orders/42 --wait soon -- true    | \"soon\" is not a duration",
        "run orders//42 -- true               | segment",
        "run orders/42 --on-lost cry -- true  | --on-lost",
        "run a --permits 1 --mode read -- true | --permits: not together with --mode",
        "run a --limit 2 -- true              | --limit: needs --permits",
        "run a --permits 3 --limit 2 -- true  | permits must be 1 to 2",
        "run a --also a -- true               | a",
        "run a --mode shared -- true          | --mode",
        "run a --max-hold 1ms -- true         | --max-hold: must be 100ms to 7d, is 1ms",
        "run a --lock-delay 2h -- true        | --lock-delay: must be 0s to 1h, is 2h",
        "release-request                      | Missing required parameter: 'LOCK'",
        "release-request a --deadline soon    | \"soon\" is not a duration",
        "force-release a --token x            | --token",
        "limit pool                           | Missing required parameter",
        "limit pool 0                         | \"0\" is not a limit",
        "limit pool 1000001                   | \"1000001\" is not a limit",
        "limit pool many                      | \"many\" is not a limit",
        "ls --server nowhere:                 | --server: \"nowhere:\" is not an address",
        "ls --key key.pem                     | --key: needs --cert",
        "ls --cert cert.pem                   | mutual TLS needs both",
        "ls --token-file missing              | --token-file: cannot read missing: it does not exist",
        "ls --token-file pom.xml --server 10.0.0.1 | the token is not sent in plaintext to 10.0.0.1:7420",
        "ls --ca /none/ca.pem                 | --ca: cannot read the TLS files: /none/ca.pem",
        "ls --cert /none/c --key /none/k      | --cert, --key: cannot read the TLS files: /none/",
        "freeze a                             | --reason",
        "freeze a --reason b --for 9000h      | --for: must be 1s to 365d, is 375d",
        "freeze a --reason b --for 0s         | --for: must be 1s to 365d, is 0s",
        "drain --grace 61m                    | --grace: must be 0s to 1h, is 61m",
        "force-release a --grace 2h           | --grace: must be 0s to 1h, is 2h",
        "release-request a --deadline 8d      | --deadline: must be 0s to 7d, is 8d",
        "run a --ttl 1s -- true               | --ttl: must be 2s to 1h, is 1s",
        "policy                               | say what to do: check",
        "token a/b                            | NAME: a token's name must be 1 to 64 letters",
        "show orders/42 --queue 0             | --queue: must be 1 to 1000",
        "show                                 | Missing required parameter: 'LOCK'",
        "serve --max-waiters 0                | --max-waiters: 0 is below the minimum of 1",
        "serve --max-waiter 5                 | --max-waiters",
        "serve --config missing.yaml          | missing.yaml does not exist",
        "serve --tls-cert missing.pem         | --tls-cert: missing.pem does not exist",
        "serve                                | --listen: 0.0.0.0:7420 is not for this machine only",
        "serve --insecure maybe               | --insecure: \"maybe\" is neither true nor false",
        "serve --insecure=false               | or give --insecure",
        "serve --insecure --listen 7420       | --listen: \"7420\" is not an address",
        "serve --check                        | --listen: 0.0.0.0:7420 is not for this machine only",
        "serve --check --insecure --data-dir pom.xml | --data-dir: pom.xml is not a directory",
        "serve --check --insecure --audit pom.xml/a | --audit: pom.xml/a may not be written",
        "serve --insecure --log-format xml    | --log-format: \"xml\" is neither text nor json",
        "dev --listen 0.0.0.0:0               | or give --insecure",
        "zk ls                                | Missing required parameter: 'PATH'",
        "zk mv /a                             | expected one of [LS, GET, DELETE] (case-insensitive) but was 'mv'",
        "zk ls locks                          | \"locks\" is not a whole path such as /lockkeeper/locks",
        "zk ls /a/                            | is not a whole path",
        "zk ls /lockkeeper/leases             | is for coordinators alone",
        "zk get /lockkeeper/sessions/1        | is for coordinators alone",
        "zk delete /lockkeeper/sessions/1 --yes | is for coordinators alone",
        "zk delete /lockkeeper --yes          | is neither below /lockkeeper/locks nor a freeze",
        "zk delete /lockkeeper/locks --yes    | is neither below /lockkeeper/locks nor a freeze",
        "zk delete /mine/a --locks-path /other --yes | is neither below /other nor a freeze",
        "dev --listen 7420                    | --listen: \"7420\" is not an address",
        "dev --zookeeper localhost:2181       | --zookeeper",
      })
  void badCommandLineIsOneClearMessageAndExitCode2(String args, String message) {
    // When
    Cli result = Cli.run(args.isEmpty() ? new String[0] : args.split(" "));
    // Then
    assertThat(result.err()).startsWith("lockkeeper: ").contains(message).doesNotContain("\tat ");
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"serve, SERVE", "dev, DEV"})
  void helpShowsEverySettingWithItsDefaultAndItsVariable(String command, Profile profile) {
    // When
    Cli result = Cli.run(command, "--help");
    // Then
    assertThat(result.exitCode()).isZero();
    for (Setting setting : Setting.values()) {
      if (setting.appliesTo(profile)) {
        assertThat(result.out())
            .containsPattern(
                Pattern.quote(setting.flag()) + "\\[?=" + Pattern.quote(setting.placeholder()))
            .contains(setting.variable())
            .contains(setting.defaultFor(profile));
      }
    }
  }

  @Test
  void helpOfRunDocumentsItsExitCodes() {
    // When
    Cli result = Cli.run("run", "--help");
    // Then
    assertThat(result.out()).contains("69", "73", "75", "LOCKKEEPER_TOKEN", "--on-lost");
  }

  @Test
  void helpSaysWhatHappensWithoutAnOption() {
    // Given
    Map<String, CommandLine> commands = Main.commandLine().getSubcommands();
    // When // Then
    for (String command :
        List.of("run", "ls", "show", "watch", "release-request", "force-release", "limit")) {
      for (OptionSpec option : commands.get(command).getCommandSpec().options()) {
        if (option.arity().max() > 0 && !option.longestName().matches("--(cert|key|also|note)")) {
          assertThat(String.join(" ", option.description()))
              .as(command + " " + option.longestName())
              .containsPattern("\\[default");
        }
      }
    }
  }

  @Test
  void checkOfGoodSettingsShowsWhatCountsAndWhereItComesFrom() {
    // When
    Cli result =
        Cli.run(
            "serve", "--check", "--insecure", "--data-dir", directory.resolve("new").toString());
    // Then
    assertThat(result.exitCode()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(result.out())
        .startsWith("settings are good")
        .containsPattern("data-dir +" + directory.resolve("new") + " +--data-dir")
        .containsPattern("lock-session-timeout +30s +default");
    assertThat(directory.resolve("new")).doesNotExist();
  }

  @Test
  void versionIsOnStandardOutput() {
    // When
    Cli result = Cli.run("--version");
    // Then
    assertThat(result.out()).startsWith("lockkeeper ");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void portInUseIsOneClearMessageAndExitCode1() throws IOException {
    // Given
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      String port = Integer.toString(taken.getLocalPort());
      // When
      Cli result = Cli.run("dev", "--zookeeper-port", port, "--data-dir", directory.toString());
      // Then
      assertThat(result.err())
          .startsWith("lockkeeper: port " + port + " of 127.0.0.1 is in use")
          .hasLineCount(1);
      assertThat(result.exitCode()).isEqualTo(1);
    }
  }
}
