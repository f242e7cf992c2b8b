package io.lockkeeper.server.core.interleaving;

import io.lockkeeper.server.core.Bench;
import io.lockkeeper.server.core.api.CoreCounts;
import io.lockkeeper.server.core.api.Effect;
import io.lockkeeper.server.core.api.StoreEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** A few coordinators, two clients, one lock; what happens next is chosen from outside. */
final class TinyWorld {

  /** What is done wrong on purpose. */
  enum Mistake {
    NONE,
    /** Writes are not fenced by the claim. */
    EPOCH_IGNORED,
    /** A coordinator that may live is taken for dead for certain. */
    ALIVE_TAKEN_FOR_DEAD,
    /** What was adopted is left alone for one time to live of a lease only. */
    GRACE_TOO_SHORT,
    /** Whoever follows the last owner takes all who owned the session before for dead, too. */
    EARLIER_OWNERS_FORGOTTEN,
    /** Who was too late for a claim serves the session as well. */
    LOSER_SERVES,
    /** Who adopts a session overlooks its entries. */
    ENTRIES_OVERLOOKED
  }

  /** Something that can happen next. */
  record Choice(String what, Runnable happening) {}

  /** One of several steps that are done in their order. */
  private record Step(String what, BooleanSupplier possible, Runnable happening) {}

  /** Steps that are done in their order, each at any moment. */
  final class Script {
    private final List<Step> steps = new ArrayList<>();
    private final Optional<TinyActor> actor;
    private int done;

    Script(Optional<TinyActor> actor) {
      this.actor = actor;
      scripts.add(this);
    }

    Script then(String what, Runnable happening) {
      return when(what, () -> true, happening);
    }

    Script when(String what, BooleanSupplier possible, Runnable happening) {
      steps.add(new Step(what, possible, happening));
      return this;
    }

    private Optional<Choice> next() {
      return steps.stream()
          .skip(done)
          .findFirst()
          .filter(step -> step.possible().getAsBoolean())
          .map(step -> new Choice(step.what(), () -> promptly(() -> take(step))));
    }

    private void take(Step step) {
      done++;
      actor.ifPresent(a -> a.received(-done, now));
      step.happening().run();
    }
  }

  long now = 1_000_000_000L;
  final TinyZooKeeper zooKeeper = new TinyZooKeeper(this);
  private final Mistake mistake;
  private final List<TinyChannel> channels = new ArrayList<>();
  private final List<TinyChannel> prompt = new ArrayList<>();
  private final Map<String, TinyChannel> byName = new HashMap<>();
  private final List<Script> scripts = new ArrayList<>();
  private final List<TinyCoordinator> coordinators = new ArrayList<>();
  private final Predicate<String> isPrompt;
  private final Consumer<TinyWorld> lastly;
  final TinyCoordinator a;
  final TinyCoordinator b;
  final TinyClient first = new TinyClient(this, 1);
  final TinyClient second = new TinyClient(this, 2);
  private long highest;

  /**
   * Makes a world.
   *
   * @param isPrompt by its name, whether what a channel carries arrives at once, so that there are
   *     not too many orders to try
   * @param lastly what must be so when everything has arrived
   */
  TinyWorld(Mistake mistake, Predicate<String> isPrompt, Consumer<TinyWorld> lastly) {
    this.mistake = mistake;
    this.isPrompt = isPrompt;
    this.lastly = lastly;
    a = start("A", "here");
    b = start("B", "there");
    settle();
  }

  /** Starts a coordinator. */
  TinyCoordinator start(String name, String home) {
    TinyCoordinator coordinator = new TinyCoordinator(this, name, home);
    coordinators.add(coordinator);
    coordinator.start();
    return coordinator;
  }

  boolean has(Mistake other) {
    return mistake == other;
  }

  boolean takesForDead(TinyCoordinator other) {
    return has(Mistake.ALIVE_TAKEN_FOR_DEAD) && !other.dead;
  }

  long graceMissing() {
    return has(Mistake.GRACE_TOO_SHORT) ? Bench.TIMEOUT.minus(Bench.TTL).toNanos() : 0;
  }

  TinyClient client(int number) {
    return number == 1 ? first : second;
  }

  TinyClient client(TinyZooKeeper.Node node) {
    return node.isOf(first) ? first : second;
  }

  TinyChannel channel(String name, TinyActor to, BooleanSupplier passable) {
    TinyChannel channel = new TinyChannel(this, name, to, passable);
    (isPrompt.test(name) ? prompt : channels).add(channel);
    return channel;
  }

  /** Lets arrive what arrives at once. */
  void prompt() {
    Optional<TinyChannel> next = prompt.stream().filter(TinyChannel::canDeliver).findFirst();
    while (next.isPresent()) {
      next.get().deliver();
      checkHolders();
      next = prompt.stream().filter(TinyChannel::canDeliver).findFirst();
    }
  }

  private TinyChannel named(String name, TinyActor to, BooleanSupplier passable) {
    return byName.computeIfAbsent(name, n -> channel(n, to, passable));
  }

  TinyChannel up(TinyClient client, TinyCoordinator to) {
    return named(client + " to " + to, to, to::isRunning);
  }

  TinyChannel down(TinyCoordinator from, TinyClient client) {
    return named(from + " to " + client, client, () -> true);
  }

  void toZooKeeper(TinyCoordinator from, Effect what, Runnable arrival) {
    named(from + " asks", zooKeeper, from::reaches).send(what, arrival);
  }

  /** Sets a claim, if it is still as it was read. */
  void claiming(TinyCoordinator from, Object what, Runnable arrival) {
    named(from + " claims", zooKeeper, from::reaches).send(what, arrival);
  }

  void mirrored(StoreEvent event) {
    coordinators.forEach(coordinator -> coordinator.mirrored(event));
  }

  /** What was on its way to a process that is gone reaches nobody. */
  void onDeath(TinyCoordinator dead) {
    up(first, dead).clear();
    up(second, dead).clear();
  }

  Script script(TinyActor actor) {
    return new Script(Optional.of(actor));
  }

  Script script() {
    return new Script(Optional.empty());
  }

  /** Lets all that is under way arrive, and whoever looks for its lease find it. */
  void settle() {
    prompt();
    Optional<Runnable> next = next();
    while (next.isPresent()) {
      next.get().run();
      prompt();
      checkHolders();
      next = next();
    }
  }

  private Optional<Runnable> next() {
    Optional<Runnable> arrival =
        channels.stream()
            .filter(TinyChannel::canDeliver)
            .findFirst()
            .map(channel -> channel::deliver);
    return arrival.or(() -> returns().findFirst().map(Choice::happening));
  }

  void pass(Duration duration) {
    long target = now + duration.toNanos();
    coordinators.forEach(coordinator -> coordinator.passTo(target));
    now = target;
  }

  List<Choice> choices() {
    List<Choice> choices = new ArrayList<>();
    scripts.forEach(script -> script.next().ifPresent(choices::add));
    returns().forEach(choices::add);
    for (TinyChannel channel : channels) {
      if (channel.canDeliver()) {
        choices.add(new Choice(channel.name, () -> promptly(channel::deliver)));
      }
    }
    return choices;
  }

  /** Whoever has nobody looks for a coordinator that serves its lease, and finds one. */
  private Stream<Choice> returns() {
    return Stream.of(first, second).filter(TinyClient::isLost).flatMap(this::returns);
  }

  private Stream<Choice> returns(TinyClient client) {
    return coordinators.stream()
        .filter(client::mayComeTo)
        .map(
            to ->
                new Choice(client + " comes to " + to, () -> promptly(() -> client.comeBack(to))));
  }

  private void promptly(Runnable step) {
    step.run();
    prompt();
  }

  /** Names the state: whoever has received the same is the same. */
  long state() {
    long state = TinyActor.mix(now, highest);
    for (TinyCoordinator coordinator : coordinators) {
      state = TinyActor.mix(state, coordinator.state());
    }
    for (TinyActor actor : List.of(zooKeeper, first, second)) {
      state = TinyActor.mix(state, actor.state());
    }
    for (TinyChannel channel : channels) {
      if (!channel.isEmpty()) {
        state += TinyActor.mix(1, channel.state());
      }
    }
    for (TinyChannel channel : prompt) {
      if (!channel.isEmpty()) {
        state += TinyActor.mix(2, channel.state());
      }
    }
    for (Script script : scripts) {
      state = TinyActor.mix(state, script.done);
    }
    return state;
  }

  /**
   * Contact comes back, and clients that look for their leases find them. Then clients go away and
   * time passes: nothing may be left.
   */
  void finish() {
    for (TinyCoordinator coordinator : coordinators) {
      coordinator.cut = false;
      coordinator.goOn();
    }
    settle();
    lastly.accept(this);
    for (int i = 0; i < 4; i++) {
      pass(Bench.TIMEOUT.plusSeconds(1));
      settle();
    }
    check(zooKeeper.queue.isEmpty(), "entries are left: " + zooKeeper.queue);
    for (TinyCoordinator coordinator : coordinators) {
      CoreCounts counts = coordinator.kernel.counts(now);
      check(
          coordinator.dead
              || counts.leases() + counts.acquisitions() + counts.locks() + counts.entries() == 0,
          coordinator + " has left " + counts);
    }
  }

  void onGrant(TinyClient client) {
    if (client.left) {
      // It is told once more what it gave back elsewhere, and does not listen.
      return;
    }
    for (TinyZooKeeper.Node node : zooKeeper.aheadOf(client)) {
      TinyClient other = client(node);
      check(!other.mayRely(), client + " was granted past " + other);
    }
  }

  void onBelief(TinyClient client, long token) {
    check(token >= highest, client + " was given a token that is lower than one before");
    highest = token;
    checkHolders();
  }

  void checkHolders() {
    check(!first.believes() || !second.believes(), "both hold");
  }

  void check(boolean rule, String broken) {
    if (!rule) {
      throw new AssertionError(broken);
    }
  }
}
