package io.lockkeeper.server.core.interleaving;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;

/** Messages from one to another, which arrive in their order and each at any later moment. */
final class TinyChannel {

  private record Message(long id, Runnable arrival) {}

  final String name;
  private final TinyWorld world;
  private final TinyActor to;
  private final BooleanSupplier passable;
  private final Deque<Message> messages = new ArrayDeque<>();

  TinyChannel(TinyWorld world, String name, TinyActor to, BooleanSupplier passable) {
    this.world = world;
    this.name = name;
    this.to = to;
    this.passable = passable;
  }

  /** Sends what is wholly said by {@code what}. */
  void send(Object what, Runnable arrival) {
    messages.add(new Message(TinyActor.mix(name.hashCode(), what.hashCode()), arrival));
  }

  /** Names what is under way. */
  long state() {
    long state = messages.size();
    for (Message message : messages) {
      state = TinyActor.mix(state, message.id());
    }
    return state;
  }

  boolean isEmpty() {
    return messages.isEmpty();
  }

  boolean canDeliver() {
    return !messages.isEmpty() && passable.getAsBoolean();
  }

  void deliver() {
    Message message = messages.remove();
    to.received(message.id(), world.now);
    message.arrival().run();
  }

  void clear() {
    messages.clear();
  }
}
