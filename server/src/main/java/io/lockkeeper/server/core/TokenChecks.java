package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Says whether tokens are current: after a barrier, and after the data of holders that are not ours
 * was read.
 */
final class TokenChecks {

  private static final int MAX_HOLDERS = 16;

  private final World world;
  private final Barriers barriers;
  private final List<Pending> pending = new ArrayList<>();

  /** A check that waits for entries to be read. */
  private record Pending(ClientEvent.CheckToken check, Set<String> unread) {}

  TokenChecks(World world, Barriers barriers) {
    this.world = world;
    this.barriers = barriers;
  }

  void check(ClientEvent.CheckToken event) {
    barriers.pass(
        passed -> {
          if (passed) {
            readOrAnswer(event);
          } else {
            world.fail(
                event.call(),
                Failure.Kind.UNAVAILABLE,
                "no answer from ZooKeeper's quorum: the token could not be checked");
          }
        });
  }

  private void readOrAnswer(ClientEvent.CheckToken event) {
    Set<String> unread = new HashSet<>();
    for (Entry holder : holders(event)) {
      if (holder.token().isEmpty()) {
        unread.add(holder.name().text());
        world.emit(new Effect.ReadDetails(event.lock(), holder.name().text()));
      }
    }
    if (unread.isEmpty()) {
      answer(event);
    } else {
      pending.add(new Pending(event, unread));
    }
  }

  private List<Entry> holders(ClientEvent.CheckToken event) {
    return world.mirror.queue(event.lock()).map(LockQueue::holders).orElse(List.of()).stream()
        .limit(MAX_HOLDERS)
        .toList();
  }

  void onDetailsRead(StoreEvent.DetailsRead event) {
    world
        .mirror
        .find(event.lock(), event.entry())
        .ifPresent(entry -> event.read().ifPresent(entry::learn));
    List<Pending> ready =
        pending.stream()
            .filter(p -> p.check().lock().equals(event.lock()))
            .filter(p -> p.unread().remove(event.entry()) && p.unread().isEmpty())
            .toList();
    pending.removeAll(ready);
    ready.forEach(p -> answer(p.check()));
  }

  private void answer(ClientEvent.CheckToken event) {
    List<Entry> holders = holders(event);
    List<FencingToken> tokens =
        holders.stream().map(Entry::token).flatMap(Optional::stream).toList();
    boolean current = tokens.stream().anyMatch(token -> token.value() == event.token());
    if (!current && tokens.size() < holders.size()) {
      // Saying "not current" of a token that nobody could compare would be a guess.
      world.fail(
          event.call(), Failure.Kind.UNAVAILABLE, "a holder's entry could not be read; try again");
    } else {
      world.reply(event.call(), new Answer.TokenChecked(current, tokens));
    }
  }
}
