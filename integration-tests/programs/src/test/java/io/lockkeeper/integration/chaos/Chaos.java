package io.lockkeeper.integration.chaos;

import io.lockkeeper.integration.clients.Language;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One run: starts a cluster and its clients, lets the nemesis work, heals everything, lets the
 * clients finish, and writes down what is left. What it means is for the checker to say.
 */
final class Chaos {

  /** One for each language, if all are built. */
  private static final int PROCESSES = 4;

  private static final int CLIENTS_IN_A_PROCESS = 9;
  private static final long FINISH_SECONDS = 120;

  /** Sessions of lock holders end within 30 s, leases of killed clients within 15 s. */
  private static final long SETTLING_SECONDS = 90;

  private final ChaosSettings settings;
  private final History history;
  private final List<ClientNode> clients = new ArrayList<>();

  private Chaos(ChaosSettings settings, History history) {
    this.settings = settings;
    this.history = history;
  }

  /** Runs as the environment says; the one argument is the directory for histories and logs. */
  public static void main(String[] args) throws InterruptedException {
    run(ChaosSettings.from(System.getenv(), Path.of(args[0]).toAbsolutePath()));
    System.exit(0);
  }

  /** Does one run. */
  static void run(ChaosSettings settings) throws InterruptedException {
    try {
      Files.createDirectories(settings.directory());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    System.out.println("chaos: " + settings);
    try (History history = History.at(settings.directory().resolve("runner.jsonl"))) {
      history
          .line("run")
          .with("seed", settings.seed())
          .with("seconds", settings.seconds())
          .with("plant", settings.bug().map(PlantedBug::toString).orElse(""))
          .with("faults", settings.faults())
          .write();
      new Chaos(settings, history).run();
      history.line("done").write();
    }
  }

  private void run() throws InterruptedException {
    try (Cluster cluster = Cluster.start(settings.directory(), settings.bug());
        Root root = new Root(cluster.connectString());
        RegisterServer registers = new RegisterServer()) {
      List<Resources> before =
          cluster.coordinators().stream().map(c -> Resources.of(c.pid())).toList();
      ClaimWatch watch = new ClaimWatch(root, history);
      boolean finished;
      try {
        startClients(cluster, registers);
        fight(cluster);
        finished = finish();
      } finally {
        watch.close();
      }
      Leftovers.record(root, history, finished ? SETTLING_SECONDS : 0);
      for (CoordinatorNode coordinator : cluster.coordinators()) {
        Resources.of(coordinator.pid()).record(coordinator.name(), Resources.most(before), history);
      }
    } finally {
      clients.forEach(ClientNode::abandon);
    }
  }

  private void startClients(Cluster cluster, RegisterServer registers) {
    List<Language> languages = Language.ready();
    for (int i = 0; i < PROCESSES; i++) {
      Language language = languages.get(i % languages.size());
      String name = "cl-" + language.label() + "-" + (1 + i / languages.size());
      long seed = settings.seed() * 31 + clients.size();
      ClientNode.Task task =
          new ClientNode.Task(
              cluster.openTo(name), registers.port(), CLIENTS_IN_A_PROCESS, Math.abs(seed));
      clients.add(ClientNode.of(language, name, settings.directory(), history, task));
    }
  }

  private void fight(Cluster cluster) {
    Victims victims = new Victims(cluster, clients);
    Nemesis nemesis = new Nemesis(settings, victims, cluster.network(), history);
    nemesis
        .workFor(Duration.ofSeconds(settings.seconds()))
        .ifPresent(problem -> stuck("nemesis: " + problem));
    cluster.network().heal();
    history.line("healed").write();
    if (!cluster.awaitHealth()) {
      stuck("not every coordinator serves again");
    }
  }

  /** Lets every client finish what it has begun; says whether all have. */
  private boolean finish() {
    boolean finished = true;
    history.line("stop").write();
    clients.forEach(ClientNode::stop);
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(FINISH_SECONDS);
    for (ClientNode client : clients) {
      long left = TimeUnit.NANOSECONDS.toSeconds(end - System.nanoTime());
      if (!client.awaitEnd(Math.max(1, left))) {
        stuck("clients " + client.name() + " have not finished, or not well");
        finished = false;
      }
    }
    return finished;
  }

  private void stuck(String what) {
    System.out.println("chaos: " + what);
    history.line("stuck").with("what", what).write();
  }
}
