package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;

/**
 * Says whether tokens are current: after a barrier, and after the data of holders that are not ours
 * was read.
 */
final class TokenChecks {

  private static final int MAX_HOLDERS = 16;

  private final World world;
  private final Barriers barriers;
  private final Readings readings;

  TokenChecks(World world, Barriers barriers, Readings readings) {
    this.world = world;
    this.barriers = barriers;
    this.readings = readings;
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
    List<NodeKey> unread =
        holders(event).stream()
            .filter(holder -> holder.token().isEmpty())
            .map(holder -> new NodeKey(event.lock(), holder.name().text()))
            .toList();
    readings.read(unread, () -> answer(event));
  }

  private List<Entry> holders(ClientEvent.CheckToken event) {
    return world.mirror.queue(event.lock()).map(LockQueue::holders).orElse(List.of()).stream()
        .limit(MAX_HOLDERS)
        .toList();
  }

  private void answer(ClientEvent.CheckToken event) {
    List<Entry> holders = holders(event);
    List<FencingToken> tokens =
        holders.stream().map(Entry::token).flatMap(Optional::stream).distinct().toList();
    boolean current = tokens.stream().anyMatch(token -> token.value() == event.token());
    boolean unread = holders.stream().anyMatch(holder -> holder.token().isEmpty());
    if (!current && unread) {
      // Saying "not current" of a token that nobody could compare would be a guess.
      world.fail(
          event.call(), Failure.Kind.UNAVAILABLE, "a holder's entry could not be read; try again");
    } else {
      world.reply(event.call(), new Answer.TokenChecked(current, tokens));
    }
  }
}
