package io.lockkeeper.cli.server;

import io.lockkeeper.server.app.HostPort;
import io.lockkeeper.server.app.ServerConfig;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Looks at each server of an ensemble by itself. */
final class ServerChecks {

  private static final int ADMIN_PORT = 8_080;
  private static final Pattern VERSION = Pattern.compile("version: (\\d+)\\.(\\d+)\\.[^-,\\s]*");
  private static final Pattern MODE = Pattern.compile("(?m)^Mode: (\\w+)");
  private static final Pattern LINE = Pattern.compile("(?m)^(\\w+)=(\\d+)$");

  /** What tells strangers about sessions, or costs the server work. */
  private static final List<String> TALKATIVE = List.of("cons", "dump", "envi", "mntr", "wchs");

  private final ServerConfig.ZooKeeper settings;
  private final Consumer<Finding> tell;
  private final List<String> modes = new ArrayList<>();
  private int reached;

  ServerChecks(ServerConfig.ZooKeeper settings, Consumer<Finding> tell) {
    this.settings = settings;
    this.tell = tell;
  }

  void run() {
    List<HostPort> servers = HostPort.parseList(settings.connect());
    servers.forEach(this::check);
    checkQuorum(servers.size());
  }

  private void check(HostPort server) {
    String name = server.toString();
    try (Socket socket = FourLetterWord.connect(server)) {
      reached += socket.isConnected() ? 1 : 0;
    } catch (IOException e) {
      tell.accept(
          Finding.fail(
              name,
              "cannot be reached ("
                  + e.getMessage()
                  + "); start it, or mend --zookeeper or the network"));
      return;
    }
    try {
      checkVersion(server, name);
      checkConfiguration(server, name);
      checkWords(server, name);
    } catch (IOException e) {
      tell.accept(Finding.warn(name, "does not take every connection: " + e.getMessage()));
    }
    checkAdminServer(new HostPort(server.host(), ADMIN_PORT));
  }

  private void checkVersion(HostPort server, String name) throws IOException {
    Optional<String> told = FourLetterWord.ask(server, "srvr");
    if (told.isEmpty()) {
      tell.accept(
          Finding.ok(
              name,
              settings.access().tls().isPresent()
                  ? "reached; its version is not told over TLS"
                  : "reached; its version is not told: srvr is not in 4lw.commands.whitelist"));
      return;
    }
    Matcher mode = MODE.matcher(told.get());
    String how = mode.find() ? mode.group(1) : "not serving";
    modes.add(how);
    Matcher version = VERSION.matcher(told.get());
    boolean known = version.find();
    boolean old =
        known && Integer.parseInt(version.group(1)) == 3 && Integer.parseInt(version.group(2)) < 6;
    String what = (known ? version.group() : "version unknown") + ", " + how;
    if (old) {
      tell.accept(Finding.fail(name, what + "; 3.6 or later is needed, for recursive watches"));
    } else if (how.equals("not serving")) {
      tell.accept(Finding.fail(name, what + "; it has no quorum: look at its log"));
    } else {
      tell.accept(Finding.ok(name, what));
    }
  }

  private void checkConfiguration(HostPort server, String name) throws IOException {
    Optional<String> told = FourLetterWord.ask(server, "conf");
    if (told.isEmpty()) {
      tell.accept(
          Finding.ok(
              name,
              "its tickTime and limits are not told (conf): compare zoo.cfg with the zookeeper-* settings"));
      return;
    }
    Map<String, Long> values = new HashMap<>();
    Matcher line = LINE.matcher(told.get());
    while (line.find()) {
      values.put(line.group(1), Long.parseLong(line.group(2)));
    }
    compare(name, "tickTime", values, settings.tickTime().toMillis(), "--zookeeper-tick-time");
    compare(name, "syncLimit", values, settings.syncLimit(), "--zookeeper-sync-limit");
    checkTimeouts(name, values);
  }

  private void compare(
      String name, String key, Map<String, Long> values, long ours, String setting) {
    Long theirs = values.get(key);
    if (theirs == null) {
      return; // A standalone server has no syncLimit.
    }
    tell.accept(
        theirs == ours
            ? Finding.ok(name, key + " is " + theirs + ", as " + setting + " says")
            : Finding.fail(
                name, key + " is " + theirs + ", but " + setting + " says " + ours + "; set it"));
  }

  private void checkTimeouts(String name, Map<String, Long> values) {
    long min = values.getOrDefault("minSessionTimeout", 0L);
    long max = values.getOrDefault("maxSessionTimeout", Long.MAX_VALUE);
    check(name, "--lock-session-timeout", settings.lockSessionTimeout(), min, max);
    check(name, "--member-session-timeout", settings.memberSessionTimeout(), min, max);
  }

  private void check(String name, String setting, Duration ours, long min, long max) {
    long millis = ours.toMillis();
    if (millis > max) {
      tell.accept(
          Finding.fail(
              name,
              "grants sessions of "
                  + max
                  + " ms at most; raise maxSessionTimeout, or lower "
                  + setting));
    } else if (millis < min) {
      tell.accept(
          Finding.warn(
              name,
              "makes sessions last "
                  + min
                  + " ms at least; lower minSessionTimeout, or raise "
                  + setting));
    } else {
      tell.accept(Finding.ok(name, "grants " + setting + " of " + millis + " ms"));
    }
  }

  private void checkWords(HostPort server, String name) throws IOException {
    if (settings.access().tls().isPresent()) {
      tell.accept(
          Finding.ok(
              name,
              "its four-letter words cannot be asked over TLS: set 4lw.commands.whitelist=srvr,ruok,conf"));
      return;
    }
    List<String> open = new ArrayList<>();
    for (String word : TALKATIVE) {
      if (FourLetterWord.ask(server, word).isPresent()) {
        open.add(word);
      }
    }
    tell.accept(
        open.isEmpty()
            ? Finding.ok(name, "answers no four-letter words that tell of sessions")
            : Finding.warn(
                name,
                "answers "
                    + String.join(", ", open)
                    + " to anybody; set 4lw.commands.whitelist=srvr,ruok,conf or firewall the port"));
  }

  private void checkAdminServer(HostPort admin) {
    try (Socket socket = FourLetterWord.connect(admin)) {
      tell.accept(
          Finding.warn(
              admin.toString(),
              "port "
                  + socket.getPort()
                  + " is open: if it is ZooKeeper's AdminServer, set admin.enableServer=false or firewall it"));
    } catch (IOException closed) {
      tell.accept(Finding.ok(admin.toString(), "no AdminServer to be reached"));
    }
  }

  private void checkQuorum(int servers) {
    String subject = "ensemble";
    if (reached * 2 <= servers) {
      tell.accept(
          Finding.fail(
              subject, reached + " of " + servers + " servers reached: no quorum from here"));
    } else if (servers == 1) {
      tell.accept(
          Finding.warn(subject, "one server: locks end with it; three stand the loss of one"));
    } else if (modes.size() > 1 && modes.stream().allMatch("standalone"::equals)) {
      tell.accept(
          Finding.fail(
              subject,
              "the servers know nothing of each other: they are standalone; one ensemble is needed"));
    } else if (servers % 2 == 0) {
      tell.accept(
          Finding.warn(subject, servers + " servers stand no more losses than " + (servers - 1)));
    } else {
      tell.accept(Finding.ok(subject, reached + " of " + servers + " servers reached"));
    }
  }
}
