package io.lockkeeper.integration.outages;

import io.lockkeeper.integration.failover.Ensemble;
import io.lockkeeper.integration.harness.ByteProxy;
import io.lockkeeper.integration.harness.ByteProxy.Way;
import io.lockkeeper.integration.harness.Descriptors;
import io.lockkeeper.server.testing.ZooKeeperProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What is done to servers of an ensemble, given by their indexes, or to coordinators. */
interface Fault {

  /** Does it; returns how it is undone. */
  Undo strike(Scene scene, List<Integer> victims);

  /** Makes it good again. */
  interface Undo extends AutoCloseable {
    @Override
    void close();
  }

  /** Their processes stand still, and their connections stay open. */
  static Undo pause(Scene scene, List<Integer> victims) {
    List<ZooKeeperProcess> servers = scene.servers(victims);
    servers.forEach(ZooKeeperProcess::pause);
    return () -> servers.forEach(ZooKeeperProcess::resume);
  }

  /** Their processes die and are started again later; their machines refuse connections. */
  static Undo kill(Scene scene, List<Integer> victims) {
    List<ZooKeeperProcess> servers = scene.servers(victims);
    servers.forEach(ZooKeeperProcess::kill);
    scene.linksTo(victims).forEach(ByteProxy::refuse);
    return () -> {
      scene.linksTo(victims).forEach(ByteProxy::admit);
      servers.parallelStream().forEach(ZooKeeperProcess::start);
    };
  }

  /** Nothing passes to them or from them, and no connection breaks. */
  static Undo cutOff(Scene scene, List<Integer> victims) {
    List<ByteProxy> links = new ArrayList<>(scene.linksTo(victims));
    links.addAll(scene.linksFrom(victims));
    links.forEach(ByteProxy::blackhole);
    return () -> links.forEach(ByteProxy::heal);
  }

  /** They hear everybody, and nobody hears them. */
  static Undo mute(Scene scene, List<Integer> victims) {
    List<ByteProxy> to = scene.linksTo(victims);
    List<ByteProxy> from = scene.linksFrom(victims);
    to.forEach(link -> link.blackhole(Way.OUT));
    from.forEach(link -> link.blackhole(Way.IN));
    return () -> {
      to.forEach(ByteProxy::heal);
      from.forEach(ByteProxy::heal);
    };
  }

  /** Whatever they hear and say takes so much longer. */
  static Fault slow(Duration each) {
    return (scene, victims) -> {
      List<ByteProxy> links = new ArrayList<>(scene.linksTo(victims));
      links.addAll(scene.linksFrom(victims));
      links.forEach(link -> link.delay(each));
      return () -> links.forEach(ByteProxy::heal);
    };
  }

  /** Their disks are full; servers that die of it are started again when there is room. */
  static Undo fillDisk(Scene scene, List<Integer> victims) {
    victims.forEach(index -> scene.disk(index).fill());
    return () -> {
      victims.forEach(index -> scene.disk(index).empty());
      restartUseless(scene, victims);
    };
  }

  private static void restartUseless(Scene scene, List<Integer> victims) {
    scene.servers(victims).parallelStream()
        .filter(server -> Ensemble.mode(server).isEmpty())
        .forEach(ZooKeeperProcess::restart);
  }

  /** Their wall clocks are wrong, and that of a coordinator. */
  static Fault setClock(Duration fast) {
    return (scene, victims) -> {
      victims.forEach(index -> scene.clock(index).set(fast));
      scene.clockOfACoordinator().set(fast);
      return () -> {
        victims.forEach(index -> scene.clock(index).set(Duration.ZERO));
        scene.clockOfACoordinator().set(Duration.ZERO);
      };
    };
  }

  /** They have no file descriptor to spare, and lose all connections. */
  static Undo exhaust(Scene scene, List<Integer> victims) {
    List<Descriptors> exhausted =
        scene.servers(victims).stream()
            .map(server -> Descriptors.exhaust(server.pid(), server.port()))
            .toList();
    scene.linksTo(victims).forEach(ByteProxy::cut);
    return () -> {
      exhausted.forEach(Descriptors::close);
      restartUseless(scene, victims);
    };
  }

  /** Coordinators have no file descriptor to spare, and lose their connections to ZooKeeper. */
  static Undo exhaustCoordinators(Scene scene, List<Integer> victims) {
    List<Descriptors> exhausted =
        victims.stream()
            .map(scene.cluster()::seat)
            .map(seat -> Descriptors.exhaust(seat.process().pid(), seat.port()))
            .toList();
    victims.forEach(index -> scene.cluster().wires(index).forEach(ByteProxy::cut));
    return () -> exhausted.forEach(Descriptors::close);
  }
}
