package io.lockkeeper.server.core.request;

import io.lockkeeper.server.core.acquire.Barriers;
import io.lockkeeper.server.core.acquire.EntryReads;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.lock.FencingToken;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.CoreState;
import java.util.List;
import java.util.Optional;

/**
 * Says whether tokens are current: after a barrier, and after the data of holders that are not ours
 * was read.
 */
public final class TokenChecks {

  private static final int MAX_HOLDERS = 16;

  private final CoreState core;
  private final Barriers barriers;
  private final EntryReads reads;

  public TokenChecks(CoreState core, Barriers barriers, EntryReads reads) {
    this.core = core;
    this.barriers = barriers;
    this.reads = reads;
  }

  /** Says whether a token is current, by a mirror that has seen everything committed before. */
  public void check(ClientEvent.CheckToken event) {
    barriers.pass(
        passed -> {
          if (passed) {
            readOrAnswer(event);
          } else {
            core.fail(
                event.call(),
                Failure.Reason.UNAVAILABLE,
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
    reads.read(unread, () -> answer(event));
  }

  private List<Entry> holders(ClientEvent.CheckToken event) {
    return core.mirror.queue(event.lock()).map(LockQueue::holders).orElse(List.of()).stream()
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
      core.fail(event.call(), Failure.Reason.UNAVAILABLE, CoreState.HOLDER_UNREAD);
    } else {
      core.reply(event.call(), new Answer.TokenChecked(current, tokens));
    }
  }
}
