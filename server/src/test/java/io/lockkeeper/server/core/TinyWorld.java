package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Two coordinators, two clients, one lock; what happens next is chosen from outside. */
final class TinyWorld {

  /** What is done wrong on purpose. */
  enum Mistake {
    NONE,
    /** Writes are not fenced by the claim. */
    EPOCH_IGNORED,
    /** A coordinator that may live is taken for dead for certain. */
    ALIVE_TAKEN_FOR_DEAD,
    /** What was adopted is left alone for one time to live of a lease only. */
    GRACE_TOO_SHORT
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
  final TinyCoordinator a = new TinyCoordinator(this, "A");
  final TinyCoordinator b = new TinyCoordinator(this, "B");
  final TinyClient first = new TinyClient(this, 1);
  final TinyClient second = new TinyClient(this, 2);
  private long highest;

  TinyWorld(Mistake mistake) {
    this.mistake = mistake;
    a.start();
    b.start();
    settle();
  }

  boolean has(Mistake other) {
    return mistake == other;
  }

  boolean certain() {
    return a.dead || has(Mistake.ALIVE_TAKEN_FOR_DEAD);
  }

  long graceMissing() {
    return has(Mistake.GRACE_TOO_SHORT) ? Bench.TIMEOUT.minus(Bench.TTL).toNanos() : 0;
  }

  TinyZooKeeper.Session orphan() {
    return a.connections.get(Bench.S1).session;
  }

  TinyClient client(int number) {
    return number == 1 ? first : second;
  }

  TinyChannel channel(String name, TinyActor to, BooleanSupplier passable) {
    TinyChannel channel = new TinyChannel(this, name, to, passable);
    (isPrompt(name) ? prompt : channels).add(channel);
    return channel;
  }

  /** What arrives at once, so that there are not too many orders to try. */
  private static boolean isPrompt(String name) {
    return name.startsWith("B hears")
        || name.startsWith("B writes")
        || name.endsWith("asks")
        || name.startsWith("client");
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
    return named(client + " to " + to, to, () -> true);
  }

  TinyChannel down(TinyCoordinator from, TinyClient client) {
    return named(from + " to " + client, client, () -> true);
  }

  void toZooKeeper(TinyCoordinator from, Effect what, Runnable arrival) {
    named(from + " asks", zooKeeper, from::reaches).send(what, arrival);
  }

  void mirrored(StoreEvent event) {
    a.mirrored(event);
    b.mirrored(event);
  }

  Script script(TinyActor actor) {
    return new Script(Optional.of(actor));
  }

  Script script() {
    return new Script(Optional.empty());
  }

  /** Lets all that is under way arrive. */
  void settle() {
    prompt();
    Optional<TinyChannel> next = deliverable();
    while (next.isPresent()) {
      next.get().deliver();
      prompt();
      checkHolders();
      next = deliverable();
    }
  }

  private Optional<TinyChannel> deliverable() {
    return channels.stream().filter(TinyChannel::canDeliver).findFirst();
  }

  void pass(Duration duration) {
    long target = now + duration.toNanos();
    a.passTo(target);
    b.passTo(target);
    now = target;
  }

  List<Choice> choices() {
    List<Choice> choices = new ArrayList<>();
    scripts.forEach(script -> script.next().ifPresent(choices::add));
    for (TinyChannel channel : channels) {
      if (channel.canDeliver()) {
        choices.add(new Choice(channel.name, () -> promptly(channel::deliver)));
      }
    }
    return choices;
  }

  private void promptly(Runnable step) {
    step.run();
    prompt();
  }

  /** Names the state: whoever has received the same is the same. */
  long state() {
    long state = TinyActor.mix(now, highest);
    for (TinyActor actor : List.of(a, b, zooKeeper, first, second)) {
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

  /** Clients go away, contact comes back, time passes: nothing may be left. */
  void finish() {
    a.cut = false;
    settle();
    for (int i = 0; i < 4; i++) {
      pass(Bench.TIMEOUT.plusSeconds(1));
      settle();
    }
    check(zooKeeper.queue.isEmpty(), "entries are left: " + zooKeeper.queue);
    for (TinyCoordinator coordinator : List.of(a, b)) {
      CoreCounts counts = coordinator.kernel.counts(now);
      check(
          coordinator.dead
              || counts.leases() + counts.acquisitions() + counts.locks() + counts.entries() == 0,
          coordinator + " has left " + counts);
    }
  }

  void onGrant(TinyClient client) {
    for (TinyZooKeeper.Node node : zooKeeper.aheadOf(client)) {
      TinyClient other = node.isOf(first) ? first : second;
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
