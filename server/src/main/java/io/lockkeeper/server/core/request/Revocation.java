package io.lockkeeper.server.core.request;

import io.lockkeeper.server.core.acquire.AcquisitionLifecycle;
import io.lockkeeper.server.core.acquire.AdoptionGrace;
import io.lockkeeper.server.core.acquire.EntryReads;
import io.lockkeeper.server.core.acquire.EntryUpdates;
import io.lockkeeper.server.core.acquire.ForcedReleases;
import io.lockkeeper.server.core.acquire.LockDelays;
import io.lockkeeper.server.core.acquire.Views;
import io.lockkeeper.server.core.api.Answer;
import io.lockkeeper.server.core.api.Caller;
import io.lockkeeper.server.core.api.ClientEvent;
import io.lockkeeper.server.core.api.Failure;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.lock.EntryUpdate;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.NodeKey;
import io.lockkeeper.server.core.lock.RevocationRequest;
import io.lockkeeper.server.core.queue.Entry;
import io.lockkeeper.server.core.queue.LockQueue;
import io.lockkeeper.server.core.state.Acquisition;
import io.lockkeeper.server.core.state.AcquisitionDescription;
import io.lockkeeper.server.core.state.CoreState;
import io.lockkeeper.server.core.state.Hold;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Makes holders give way: asks them, and takes locks away by force. A holder that another
 * coordinator serves is reached through its entry, which that coordinator watches; one of Curator's
 * likewise.
 */
public final class Revocation {

  private static final int MAX_SHOWN = 16;
  private static final int MAX_ENTRIES_OF_OTHERS = 64;
  private static final int MAX_GRACES = 1_000;

  /** How long another coordinator has to take a lock away from its holder by itself. */
  private static final long PEER_NANOS = Duration.ofSeconds(3).toNanos();

  private final CoreState core;
  private final Views views;
  private final AcquisitionLifecycle lifecycle;
  private final EntryReads reads;
  private final EntryUpdates updates;
  private final ForcedReleases forcedReleases;
  private final AdoptionGrace grace;
  private final LockDelays delays;
  private final List<Grace> graces = new ArrayList<>();

  /** A forced release that waits. */
  private record Grace(String account, LockName lock, List<Entry> holders, long dueNanos) {}

  public Revocation(
      CoreState core,
      Views views,
      AcquisitionLifecycle lifecycle,
      EntryReads reads,
      EntryUpdates updates,
      ForcedReleases forcedReleases,
      AdoptionGrace grace,
      LockDelays delays) {
    this.delays = delays;
    this.grace = grace;
    this.forcedReleases = forcedReleases;
    this.core = core;
    this.views = views;
    this.lifecycle = lifecycle;
    this.reads = reads;
    this.updates = updates;
  }

  /** Asks the holders of a lock to give way. */
  public void requestRelease(ClientEvent.RequestRelease event) {
    if (!core.mirror.isCurrent()) {
      core.fail(event.call(), Failure.Reason.UNAVAILABLE, CoreState.NO_CONTACT);
      return;
    }
    // Who was asked is shown, and nobody is before it is known who he is.
    readFirst(event.lock(), () -> askKnown(event));
  }

  private void readFirst(LockName lock, Runnable then) {
    List<NodeKey> unread =
        holders(lock).stream()
            .filter(holder -> !Views.isNamed(holder, true))
            .limit(MAX_ENTRIES_OF_OTHERS)
            .map(holder -> new NodeKey(lock, holder.name().text()))
            .toList();
    reads.read(unread, then);
  }

  private void askKnown(ClientEvent.RequestRelease event) {
    List<Entry> holders = holders(event.lock());
    ask(
        event.lock(),
        holders,
        event.ask(),
        asked -> {
          if (asked.isEmpty()) {
            core.fail(
                event.call(),
                Failure.Reason.UNAVAILABLE,
                "ZooKeeper did not confirm that all holders were asked: send it again");
            return;
          }
          Stream<Entry> shown =
              holders.stream().filter(asked.get()::contains).filter(e -> Views.isNamed(e, true));
          core.reply(
              event.call(),
              new Answer.ReleaseAsked(views.holders(shown.limit(MAX_SHOWN).toList())));
        });
  }

  private List<Entry> holders(LockName lock) {
    return core.mirror.queue(lock).map(LockQueue::holders).orElse(List.of());
  }

  /**
   * Asks holders, of other coordinators' only the first 64; {@code then} hears who was asked, or
   * nothing if that is not certain.
   */
  private void ask(
      LockName lock,
      List<Entry> holders,
      RevocationRequest ask,
      Consumer<Optional<Set<Entry>>> then) {
    Set<Entry> asked = new HashSet<>();
    Map<NodeKey, Entry> others = new LinkedHashMap<>();
    for (Entry holder : holders) {
      Optional<Hold> own = Hold.of(holder);
      if (own.isEmpty() && others.size() < MAX_ENTRIES_OF_OTHERS) {
        others.put(new NodeKey(lock, holder.name().text()), holder);
      } else if (own.isPresent() && tell(own.get(), ask)) {
        asked.add(holder);
      }
    }
    Map<NodeKey, EntryUpdate> wishes = new LinkedHashMap<>();
    others.keySet().forEach(key -> wishes.put(key, new EntryUpdate.Ask(ask)));
    updates.send(
        wishes,
        outcomes -> {
          outcomes.forEach(
              (key, outcome) -> {
                if (outcome == EntryUpdate.Outcome.DONE) {
                  asked.add(others.get(key));
                }
              });
          boolean certain = EntryUpdates.worst(outcomes) != EntryUpdate.Outcome.FAILED;
          then.accept(certain ? Optional.of(asked) : Optional.empty());
        });
  }

  /** Returns whether the hold's client is told: not where it holds nothing yet. */
  private boolean tell(Hold hold, RevocationRequest ask) {
    Acquisition acquisition = hold.acquisition();
    if (!acquisition.state().isHeld()) {
      return false;
    }
    AcquisitionDescription.Asked asked =
        new AcquisitionDescription.Asked(ask, hold.lock(), core.now);
    acquisition.description().asked(asked);
    lifecycle.tell(acquisition, asked.notice(core.now));
    return true;
  }

  /** An entry of ours carries a wish that came from elsewhere. */
  public void onAsked(Entry entry, RevocationRequest ask) {
    Optional<Hold> hold = Hold.of(entry);
    if (hold.isEmpty() || !isNew(hold.get(), ask)) {
      return;
    }
    if (ask.force()) {
      takeAway(hold.get(), ask);
    } else {
      var unused = tell(hold.get(), ask);
    }
    if (ask.id().equals(RevocationRequest.BY_CURATOR)) {
      // Curator has written over what the entry said of itself.
      updates.send(hold.get().key(), hold.get().description(core.now));
    }
  }

  private void takeAway(Hold hold, RevocationRequest ask) {
    grace.attend(hold.acquisition());
    lifecycle.takeAway(hold.acquisition(), ending(ask));
    // And from those of its owner that hold the lock by it until they have an entry of their own.
    hold.followers().forEach(follower -> lifecycle.takeAway(follower.acquisition(), ending(ask)));
    if (hold.acquisition().isToBeDeleted()) {
      // What else the request has must stay for a while; this lock is wanted now.
      updates.send(hold.key(), new EntryUpdate.Remove());
    }
  }

  private static boolean isNew(Hold hold, RevocationRequest ask) {
    return ask.id().equals(RevocationRequest.BY_CURATOR)
        || hold.acquisition()
            .description()
            .asked()
            .filter(asked -> asked.ask().id().equals(ask.id()))
            .isEmpty();
  }

  private static Notice.Lost ending(RevocationRequest ask) {
    String reason = ask.reason().isEmpty() ? "" : ": " + ask.reason();
    return new Notice.Lost(Notice.LossReason.FORCED, "taken away by " + ask.requester() + reason);
  }

  /** Takes a lock away from whom the request names, and ends the delays that keep it closed. */
  public void forceRelease(ClientEvent.ForceRelease event) {
    if (!core.mirror.isCurrent()) {
      core.fail(event.call(), Failure.Reason.UNAVAILABLE, CoreState.NO_CONTACT);
      return;
    }
    // Whose an entry is, and its token, says its data.
    Caller by = core.caller;
    readFirst(event.lock(), () -> forceKnown(event, by));
  }

  private void forceKnown(ClientEvent.ForceRelease event, Caller by) {
    List<Entry> all = holders(event.lock());
    List<Entry> holders =
        all.stream()
            .filter(holder -> event.token() == 0 || hasToken(holder, event.token()))
            .toList();
    if (holders.isEmpty() && all.stream().anyMatch(holder -> holder.token().isEmpty())) {
      // Saying that nobody holds it, of one that nobody could compare, would be a guess.
      core.fail(event.call(), Failure.Reason.UNAVAILABLE, CoreState.HOLDER_UNREAD);
      return;
    }
    if (holders.isEmpty() && runningDelays(event).isEmpty()) {
      core.fail(
          event.call(),
          Failure.Reason.NO_HOLDER,
          event.token() == 0
              ? "nobody holds lock '" + event.lock() + "'"
              : "nobody holds lock '" + event.lock() + "' with the token " + event.token());
      return;
    }
    if (event.ask().deadline().isEmpty() || holders.isEmpty()) {
      forceNow(event, holders);
    } else {
      forceLater(event, holders, by);
    }
  }

  private void forceLater(ClientEvent.ForceRelease event, List<Entry> holders, Caller by) {
    String account = by.account();
    int most = by.quota().freezes();
    long due = core.now + event.ask().deadline().map(Duration::toNanos).orElse(0L);
    Set<Entry> forcedBefore = toBeForced(account, event.lock(), due);
    List<Entry> more = holders.stream().filter(holder -> !forcedBefore.contains(holder)).toList();
    if (more.isEmpty()) {
      // The same account has asked for it before, for the same time or an earlier one.
      core.reply(event.call(), new Answer.Forced(0, holders.size(), endDelays(event).size()));
    } else if (graces.size() >= MAX_GRACES) {
      core.fail(
          event.call(),
          Failure.Reason.TOO_MANY,
          "the coordinator has its limit of " + MAX_GRACES + " forced releases waiting");
    } else if (graces.stream().filter(each -> each.account().equals(account)).count() >= most) {
      core.fail(
          event.call(),
          Failure.Reason.TOO_MANY,
          "'"
              + account
              + "' has its limit of "
              + most
              + " forced releases waiting on this coordinator (freezes)");
    } else {
      forceLater(event, new Grace(account, event.lock(), more, due));
    }
  }

  private Set<Entry> toBeForced(String account, LockName lock, long byNanos) {
    Set<Entry> holders = new HashSet<>();
    for (Grace each : graces) {
      if (each.lock().equals(lock)
          && each.account().equals(account)
          && each.dueNanos() - byNanos <= 0) {
        holders.addAll(each.holders());
      }
    }
    return holders;
  }

  private static boolean hasToken(Entry holder, long token) {
    return holder.token().filter(t -> t.value() == token).isPresent();
  }

  private void forceLater(ClientEvent.ForceRelease event, Grace grace) {
    List<Entry> holders = grace.holders();
    RevocationRequest force = event.ask();
    RevocationRequest first =
        new RevocationRequest(
            force.id() + "-first", force.requester(), force.reason(), force.deadline(), false);
    ask(event.lock(), holders, first, asked -> {});
    graces.add(grace);
    core.timers.at(
        grace.dueNanos(),
        () -> {
          graces.remove(grace);
          Set<Entry> known = new HashSet<>(holders);
          List<Entry> still =
              holders(event.lock()).stream()
                  .filter(
                      holder ->
                          known.contains(holder)
                              || holders.stream().anyMatch(asked -> isAgain(asked, holder)))
                  .toList();
          force(event.lock(), still, force);
        });
    core.reply(event.call(), new Answer.Forced(0, holders.size(), endDelays(event).size()));
  }

  /** A delay is left of a holder that is gone: a token does not name it. */
  private List<MarkerName.Guard> runningDelays(ClientEvent.ForceRelease event) {
    return event.token() == 0 ? delays.running(event.lock()) : List.of();
  }

  private List<NodeKey> endDelays(ClientEvent.ForceRelease event) {
    List<MarkerName.Guard> ended = runningDelays(event);
    ended.forEach(guard -> delays.end(event.lock(), guard));
    return ended.stream().map(guard -> new NodeKey(event.lock(), guard.text())).toList();
  }

  /** Whoever was asked may have taken the lock once more meanwhile. */
  private static boolean isAgain(Entry asked, Entry holder) {
    return asked.name().isAtPlaceOf(holder.name()) && asked.mode().isReentrant();
  }

  private boolean isThere(LockName lock, Entry entry) {
    return core.mirror.find(lock, entry.name().text()).filter(e -> e == entry).isPresent();
  }

  private void forceNow(ClientEvent.ForceRelease event, List<Entry> holders) {
    LockName lock = event.lock();
    List<NodeKey> keys = holders.stream().map(h -> new NodeKey(lock, h.name().text())).toList();
    forcedReleases.await(event.call(), keys, endDelays(event));
    force(lock, holders, event.ask());
  }

  private void force(LockName lock, List<Entry> holders, RevocationRequest ask) {
    for (Entry holder : holders) {
      Optional<Hold> own = Hold.of(holder);
      if (own.isPresent()) {
        takeAway(own.get(), ask);
      } else {
        forceOther(lock, holder, ask);
      }
    }
  }

  /** Has the coordinator that serves it take it away, and does so itself if that takes too long. */
  private void forceOther(LockName lock, Entry holder, RevocationRequest ask) {
    NodeKey key = new NodeKey(lock, holder.name().text());
    boolean curators = holder.details().filter(d -> d.leaseId().isEmpty()).isPresent();
    if (curators) {
      updates.send(key, new EntryUpdate.Remove());
      return;
    }
    updates.send(key, new EntryUpdate.Ask(ask));
    core.timers.at(
        core.now + PEER_NANOS,
        () -> {
          if (isThere(lock, holder)) {
            updates.send(key, new EntryUpdate.Remove());
          }
        });
  }
}
