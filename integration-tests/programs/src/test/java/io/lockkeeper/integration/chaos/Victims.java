package io.lockkeeper.integration.chaos;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Who suffers now. One fault of the ensemble, one of the clients, and faults of two coordinators at
 * a time, so that there is somebody to make progress; a victim is free again when it is well.
 */
final class Victims {

  private static final int MOST_COORDINATORS = 2;

  private final Cluster cluster;
  private final List<ClientNode> clients;
  private final Set<String> taken = new HashSet<>();

  /** Those that one fault has been given. */
  record Taken(
      List<CoordinatorNode> coordinators,
      List<ZooKeeperNode> zookeepers,
      List<ClientNode> clients) {

    /** Returns their names. */
    List<String> names() {
      List<String> names = new ArrayList<>();
      coordinators.forEach(c -> names.add(c.name()));
      zookeepers.forEach(z -> names.add(z.name()));
      clients.forEach(c -> names.add(c.name()));
      return names;
    }

    /** Returns whether they do again what they are there for. */
    boolean areWell() {
      return coordinators.stream().allMatch(CoordinatorNode::isServing)
          && zookeepers.stream().allMatch(ZooKeeperNode::isServing);
    }
  }

  Victims(Cluster cluster, List<ClientNode> clients) {
    this.cluster = cluster;
    this.clients = clients;
  }

  /** Gives a fault its victims, if they can be spared. */
  synchronized Optional<Taken> take(Fault fault, SplittableRandom random) {
    List<CoordinatorNode> coordinators = List.of();
    List<ZooKeeperNode> zookeepers = List.of();
    List<ClientNode> processes = List.of();
    switch (fault.victim()) {
      case COORDINATOR -> {
        boolean enough = count("co-") + fault.count() > MOST_COORDINATORS && count("co-") > 0;
        coordinators =
            enough
                ? List.of()
                : pick(cluster.coordinators(), CoordinatorNode::name, fault.count(), random);
      }
      case LEADER -> zookeepers = servers(ZooKeeperNode::isLeader, 1, random);
      case FOLLOWER -> zookeepers = servers(z -> !z.isLeader(), 1, random);
      case ENSEMBLE -> zookeepers = servers(z -> true, fault.count(), random);
      case CLIENTS ->
          processes = count("cl-") > 0 ? List.of() : pick(clients, ClientNode::name, 1, random);
    }
    Taken found = new Taken(coordinators, zookeepers, processes);
    taken.addAll(found.names());
    return found.names().isEmpty() ? Optional.empty() : Optional.of(found);
  }

  private List<ZooKeeperNode> servers(
      Predicate<ZooKeeperNode> fits, int count, SplittableRandom random) {
    if (count("zk-") > 0) {
      return List.of();
    }
    List<ZooKeeperNode> fitting = cluster.zookeepers().stream().filter(fits).toList();
    return pick(fitting, ZooKeeperNode::name, count, random);
  }

  private <T> List<T> pick(
      List<T> all, Function<T, String> name, int count, SplittableRandom random) {
    List<T> free = new ArrayList<>(all);
    free.removeIf(node -> taken.contains(name.apply(node)));
    if (free.size() < count) {
      return List.of();
    }
    List<T> picked = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      picked.add(free.remove(random.nextInt(free.size())));
    }
    return picked;
  }

  private long count(String prefix) {
    return taken.stream().filter(name -> name.startsWith(prefix)).count();
  }

  /** The victims can be hit again. */
  synchronized void release(Collection<String> names) {
    taken.removeAll(names);
  }
}
