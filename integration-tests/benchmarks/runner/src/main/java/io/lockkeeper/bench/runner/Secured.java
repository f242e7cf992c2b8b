package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A coordinator with TLS, and mostly with client certificates, a policy, tokens and an audit, and
 * its loads. It has a root of its own in the ZooKeeper of all, so that no coordinator hears of the
 * other ones' locks.
 */
final class Secured implements AutoCloseable {

  private final Settings settings;
  private final Jvms jvms;
  private final Path directory;
  private final ZooKeeperServer zookeeper;
  private final IdentityFiles files;
  private final Coordinator coordinator;
  private final Deque<Runnable> open = new ArrayDeque<>();

  private Secured(
      Settings settings,
      Jvms jvms,
      Path directory,
      ZooKeeperServer zookeeper,
      IdentityFiles files,
      Coordinator coordinator) {
    this.settings = settings;
    this.jvms = jvms;
    this.directory = directory;
    this.zookeeper = zookeeper;
    this.files = files;
    this.coordinator = coordinator;
    open.push(coordinator::close);
  }

  /** Returns whether a row must be left out, for want of a program, and says so if that is so. */
  static boolean isSkipped(String row) {
    boolean possible = Neighbours.find(IdentityFiles.PROGRAM).isPresent();
    if (!possible) {
      System.out.println("SKIPPED: " + row + " needs the program " + IdentityFiles.PROGRAM);
    }
    return !possible;
  }

  /**
   * Starts the coordinator.
   *
   * @param whole whether it is secured as one is for production, and does not only encrypt
   */
  static Secured start(
      Settings settings, Jvms jvms, Path directory, ZooKeeperServer zookeeper, boolean whole)
      throws IOException, InterruptedException {
    String name = whole ? "secured" : "encrypted";
    IdentityFiles files = IdentityFiles.in(directory.resolve(name));
    List<String> flags = new ArrayList<>(files.tls());
    flags.add("--root=/" + name);
    if (whole) {
      flags.addAll(files.identities());
    }
    Coordinator coordinator =
        Coordinator.start(
            jvms,
            "coordinator",
            files.directory(),
            zookeeper.address(),
            settings.coordinatorFlags(),
            flags);
    return new Secured(settings, jvms, directory, zookeeper, files, coordinator);
  }

  Coordinator coordinator() {
    return coordinator;
  }

  /** Starts a load that does not say who it is, and warms both up. */
  Scene unnamed() throws IOException {
    return scene("encrypted", files.authority());
  }

  /** Starts a load that shows a certificate, and warms both up. */
  Scene certified() throws IOException {
    return scene("certificate", files.certificateOf("load"));
  }

  /** Starts a load that sends a token, and warms both up. */
  Scene withToken() throws IOException {
    return scene("token", files.token());
  }

  private Scene scene(String name, List<String> credentials) throws IOException {
    LoadProcess load =
        LoadProcess.start(
            jvms,
            "load-" + name,
            directory,
            "lockkeeper",
            LoadProcess.LOCKKEEPER,
            Stream.concat(
                    Stream.of(
                        "lockkeeper",
                        coordinator.address(),
                        Integer.toString(settings.connections())),
                    credentials.stream())
                .toList());
    open.push(load::close);
    Scene scene =
        new Scene(
            Subject.LOCKKEEPER.label(),
            load,
            List.of(zookeeper.child(), coordinator.child()),
            Optional.of(zookeeper));
    double unused = WarmUp.all(scene, settings);
    return scene;
  }

  /** Starts the client that does its worst; the caller ends it. */
  TalkingJvm hostile() throws IOException {
    return TalkingJvm.start(
        jvms,
        "load-hostile",
        directory,
        "io.lockkeeper.bench.lockkeeper.HostileLoad",
        Stream.of(
                List.of(coordinator.address(), Integer.toString(settings.connections())),
                files.certificateOf("hostile"),
                files.certificateOf("rehearsal"))
            .flatMap(List::stream)
            .toList());
  }

  @Override
  public void close() {
    while (!open.isEmpty()) {
      open.pop().run();
    }
  }
}
