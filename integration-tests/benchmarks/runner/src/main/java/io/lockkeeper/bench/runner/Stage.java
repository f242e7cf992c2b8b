package io.lockkeeper.bench.runner;

import io.lockkeeper.bench.load.Order.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All processes of a run: started when they are first needed, ended together. */
final class Stage implements AutoCloseable {

  private static final String ETCD_LOAD = "io.lockkeeper.bench.etcd.EtcdLoad";
  private static final String REDISSON_LOAD = "io.lockkeeper.bench.redisson.RedissonLoad";
  private static final String ZOOKEEPER_LOAD = "io.lockkeeper.bench.zookeeper.ZooKeeperLoad";
  private static final String PONG_SERVER = "io.lockkeeper.bench.lockkeeper.PongServer";

  private final Settings settings;
  private final Jvms jvms;
  private final Path directory;
  private final Deque<Runnable> open = new ArrayDeque<>();
  private final Map<Subject, Scene> scenes = new EnumMap<>(Subject.class);
  private Optional<ZooKeeperServer> zookeeper = Optional.empty();
  private Optional<Coordinator> coordinator = Optional.empty();
  private Optional<Secured> secured = Optional.empty();
  private Optional<Scene> certified = Optional.empty();
  private Optional<Scene> encrypted = Optional.empty();
  private Optional<Scene> kept = Optional.empty();
  private Optional<Neighbours.Running> etcd = Optional.empty();
  private Optional<Neighbours.Running> redis = Optional.empty();

  /** Nothing runs yet; processes write below {@code directory}. */
  Stage(Settings settings, Jvms jvms, Path directory) {
    this.settings = settings;
    this.jvms = jvms;
    this.directory = directory;
  }

  /** Returns a system's load and servers, which run. */
  Scene scene(Subject subject) throws IOException, InterruptedException {
    Scene known = scenes.get(subject);
    if (known != null) {
      return known;
    }
    Scene scene = start(subject);
    scenes.put(subject, scene);
    return scene;
  }

  private Scene start(Subject subject) throws IOException, InterruptedException {
    return switch (subject) {
      case RAW_ASYNC, RAW_MULTI, MIRRORED_MULTI, CURATOR -> onZooKeeper(subject);
      case LOCKKEEPER -> onLockkeeper();
      case PING_PONG -> onGrpc();
      case ETCD -> beside(subject, etcd(), "etcd", ETCD_LOAD);
      case REDISSON, REDISSON_FAIR -> beside(subject, redis(), "redisson", REDISSON_LOAD);
      case REDISSON_NOFSYNC -> beside(subject, redisUnforced(), "redisson", REDISSON_LOAD);
    };
  }

  private Scene beside(Subject subject, Neighbours.Running server, String module, String main)
      throws IOException {
    LoadProcess load =
        load("load-" + subject.label(), module, main, subject.label(), server.address());
    return new Scene(subject.label(), load, List.of(server.child()), Optional.empty());
  }

  private Neighbours.Running etcd() throws IOException, InterruptedException {
    if (etcd.isEmpty()) {
      etcd = Optional.of(opened(Neighbours.etcd(directory.resolve("etcd"))));
    }
    return etcd.orElseThrow();
  }

  private Neighbours.Running redis() throws IOException, InterruptedException {
    if (redis.isEmpty()) {
      redis = Optional.of(opened(Neighbours.redis(directory.resolve("redis"), true)));
    }
    return redis.orElseThrow();
  }

  private Neighbours.Running redisUnforced() throws IOException, InterruptedException {
    return opened(Neighbours.redis(directory.resolve("redis-nofsync"), false));
  }

  private Neighbours.Running opened(Neighbours.Running server) {
    open.push(server.child()::close);
    return server;
  }

  private Scene onZooKeeper(Subject subject) throws IOException, InterruptedException {
    ZooKeeperServer server = zookeeper();
    LoadProcess load =
        load(
            "load-" + subject.label(),
            "zookeeper",
            ZOOKEEPER_LOAD,
            subject.label(),
            server.address());
    return new Scene(subject.label(), load, List.of(server.child()), Optional.of(server));
  }

  private Scene onLockkeeper() throws IOException, InterruptedException {
    Coordinator server = coordinator();
    LoadProcess load =
        load(
            "load-lockkeeper",
            "lockkeeper",
            LoadProcess.LOCKKEEPER,
            "lockkeeper",
            server.address());
    return new Scene(
        Subject.LOCKKEEPER.label(),
        load,
        List.of(zookeeper().child(), server.child()),
        Optional.of(zookeeper()));
  }

  /** Returns clients that keep their locks, on the one coordinator, warm. */
  Scene kept() throws IOException, InterruptedException {
    if (kept.isEmpty()) {
      Coordinator server = coordinator();
      LoadProcess load =
          load("load-kept", "lockkeeper", LoadProcess.LOCKKEEPER, "kept", server.address());
      List<Child> servers = List.of(zookeeper().child(), server.child());
      Scene scene = new Scene("kept", load, servers, Optional.of(zookeeper()));
      double unused = WarmUp.warm(scene, Shape.OWN, 1, settings);
      kept = Optional.of(scene);
    }
    return kept.orElseThrow();
  }

  private Scene onGrpc() throws IOException {
    Child server =
        Child.startTalking(
            "pong-server",
            Files.createDirectories(directory.resolve("ping-pong")),
            jvms.command("lockkeeper", Jvms.LOAD_FLAGS, PONG_SERVER, List.of()));
    open.push(server::close);
    int port = PongPort.read(server);
    LoadProcess load =
        load(
            "load-ping-pong",
            "lockkeeper",
            LoadProcess.LOCKKEEPER,
            "ping-pong",
            "127.0.0.1:" + port);
    return new Scene(Subject.PING_PONG.label(), load, List.of(server), Optional.empty());
  }

  private LoadProcess load(String name, String module, String main, String system, String server)
      throws IOException {
    LoadProcess load =
        LoadProcess.start(
            jvms,
            name,
            directory,
            module,
            main,
            List.of(system, server, Integer.toString(settings.connections())));
    open.push(load::close);
    return load;
  }

  /**
   * Starts the load of a client in another language on a server that runs.
   *
   * @param language the client's directory
   * @param system whose server
   * @param library what the load is told to use
   */
  Scene client(String language, Subject system, String library)
      throws IOException, InterruptedException {
    String program = jvms.root().resolve("clients/" + language + "/bin/load").toString();
    boolean ours = system == Subject.LOCKKEEPER;
    Neighbours.Running server =
        switch (system) {
          case ETCD -> etcd();
          case REDISSON -> redis();
          default -> new Neighbours.Running(coordinator().child(), coordinator().address());
        };
    LoadProcess load =
        LoadProcess.start(
            "load-" + language + "-" + library,
            directory,
            List.of(program, library, server.address()));
    open.push(load::close);
    return new Scene(
        language + " with " + library,
        load,
        ours ? List.of(zookeeper().child(), server.child()) : List.of(server.child()),
        Optional.empty());
  }

  /** Returns the one ZooKeeper that all share. */
  ZooKeeperServer zookeeper() throws IOException, InterruptedException {
    if (zookeeper.isEmpty()) {
      ZooKeeperServer server =
          ZooKeeperServer.start(jvms, Files.createDirectories(directory.resolve("zookeeper")));
      open.push(server::close);
      zookeeper = Optional.of(server);
    }
    return zookeeper.orElseThrow();
  }

  /** Returns the one coordinator. */
  Coordinator coordinator() throws IOException, InterruptedException {
    if (coordinator.isEmpty()) {
      Coordinator started =
          Coordinator.start(
              jvms,
              "coordinator",
              directory.resolve("coordinator"),
              zookeeper().address(),
              settings.coordinatorFlags());
      open.push(started::close);
      coordinator = Optional.of(started);
    }
    return coordinator.orElseThrow();
  }

  /** Returns the one coordinator that is secured. */
  Secured secured() throws IOException, InterruptedException {
    if (secured.isEmpty()) {
      secured = Optional.of(startSecured(true));
    }
    return secured.orElseThrow();
  }

  private Secured startSecured(boolean whole) throws IOException, InterruptedException {
    Secured started = Secured.start(settings, jvms, directory, zookeeper(), whole);
    open.push(started::close);
    return started;
  }

  /** Returns a coordinator that encrypts and is open to all, with its load, both warm. */
  Scene encrypted() throws IOException, InterruptedException {
    if (encrypted.isEmpty()) {
      encrypted = Optional.of(startSecured(false).unnamed());
    }
    return encrypted.orElseThrow();
  }

  /** Returns the secured coordinator with a load that shows a certificate, both warm. */
  Scene certified() throws IOException, InterruptedException {
    if (certified.isEmpty()) {
      certified = Optional.of(secured().certified());
    }
    return certified.orElseThrow();
  }

  /** Starts a load that answers words; the caller ends it. */
  TalkingJvm talk(String name, String main, String server) throws IOException {
    return TalkingJvm.start(
        jvms,
        "load-" + name,
        directory,
        main,
        List.of(server, Integer.toString(settings.connections())));
  }

  /** Starts coordinators on a ZooKeeper with much memory; the caller ends them. */
  Growth growth(int coordinators) throws IOException, InterruptedException {
    Path home = Files.createTempDirectory(directory, "growth-");
    return Growth.start(settings, jvms, home, coordinators);
  }

  /** Starts three coordinators on an ensemble of three; the caller ends them. */
  Cluster cluster() throws IOException, InterruptedException {
    return Cluster.start(settings, jvms, Files.createDirectories(directory.resolve("cluster")));
  }

  @Override
  public void close() {
    while (!open.isEmpty()) {
      open.pop().run();
    }
  }
}
