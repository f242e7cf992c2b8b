package io.lockkeeper.server.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Makes holders give way: asks them, and takes locks away by force. A holder that another
 * coordinator serves is reached through its entry, which that coordinator watches; one of Curator's
 * likewise.
 */
final class GivingWay {

  private static final int MAX_SHOWN = 16;
  private static final int MAX_ENTRIES_OF_OTHERS = 64;
  private static final int MAX_GRACES = 1_000;

  /** How long another coordinator has to take a lock away from its holder by itself. */
  private static final long PEER_NANOS = Duration.ofSeconds(3).toNanos();

  private final World world;
  private final Views views;
  private final Acquisitions acquisitions;
  private final Readings readings;
  private final Amendments amendments;
  private final Forcings forcings;
  private final Dormancy dormancy;
  private int graces;

  GivingWay(
      World world,
      Views views,
      Acquisitions acquisitions,
      Readings readings,
      Amendments amendments,
      Forcings forcings,
      Dormancy dormancy) {
    this.dormancy = dormancy;
    this.forcings = forcings;
    this.world = world;
    this.views = views;
    this.acquisitions = acquisitions;
    this.readings = readings;
    this.amendments = amendments;
  }

  void requestRelease(ClientEvent.RequestRelease event) {
    if (!world.mirror.isCurrent()) {
      world.fail(event.call(), Failure.Kind.UNAVAILABLE, World.NO_CONTACT);
      return;
    }
    List<Entry> holders = holders(event.lock());
    List<Contender> shown = views.contenders(holders.stream().limit(MAX_SHOWN).toList());
    ask(
        event.lock(),
        holders,
        event.ask(),
        outcome -> {
          if (outcome == Amendment.Outcome.FAILED) {
            world.fail(
                event.call(),
                Failure.Kind.UNAVAILABLE,
                "ZooKeeper did not confirm that all holders were asked: send it again");
          } else {
            world.reply(event.call(), new Answer.ReleaseAsked(shown));
          }
        });
  }

  private List<Entry> holders(LockName lock) {
    return world.mirror.queue(lock).map(LockQueue::holders).orElse(List.of());
  }

  private void ask(
      LockName lock,
      List<Entry> holders,
      ReleaseAsk ask,
      java.util.function.Consumer<Amendment.Outcome> then) {
    List<NodeKey> others = new ArrayList<>();
    for (Entry holder : holders) {
      Optional<Hold> own = Hold.of(holder);
      own.ifPresent(hold -> tell(hold, ask));
      if (own.isEmpty() && others.size() < MAX_ENTRIES_OF_OTHERS) {
        others.add(new NodeKey(lock, holder.name().text()));
      }
    }
    amendments.send(others, new Amendment.Ask(ask), then);
  }

  private void tell(Hold hold, ReleaseAsk ask) {
    Ticket ticket = hold.ticket();
    if (ticket.acquisition().isHeld()) {
      Description.Asked asked = new Description.Asked(ask, hold.lock(), world.now);
      ticket.description().asked(asked);
      acquisitions.tell(ticket, asked.notice(world.now));
    }
  }

  /** An entry of ours carries a wish that came from elsewhere. */
  void onAsked(Entry entry, ReleaseAsk ask) {
    Optional<Hold> hold = Hold.of(entry);
    if (hold.isEmpty() || !isNew(hold.get(), ask)) {
      return;
    }
    if (ask.force()) {
      takeAway(hold.get(), ask);
    } else {
      tell(hold.get(), ask);
    }
    if (ask.id().equals(ReleaseAsk.BY_CURATOR)) {
      // Curator has written over what the entry said of itself.
      amendments.send(List.of(hold.get().key()), hold.get().description(), outcome -> {});
    }
  }

  private void takeAway(Hold hold, ReleaseAsk ask) {
    dormancy.attend(hold.ticket());
    acquisitions.takeAway(hold.ticket(), ending(ask));
    // And from those of its owner that hold the lock by it until they have an entry of their own.
    hold.followers().forEach(follower -> acquisitions.takeAway(follower.ticket(), ending(ask)));
    if (hold.ticket().isToBeDeleted()) {
      // What else the request has must stay for a while; this lock is wanted now.
      amendments.send(List.of(hold.key()), new Amendment.Remove(), outcome -> {});
    }
  }

  private static boolean isNew(Hold hold, ReleaseAsk ask) {
    return ask.id().equals(ReleaseAsk.BY_CURATOR)
        || hold.ticket()
            .description()
            .asked()
            .filter(asked -> asked.ask().id().equals(ask.id()))
            .isEmpty();
  }

  private static Notice.Lost ending(ReleaseAsk ask) {
    String reason = ask.reason().isEmpty() ? "" : ": " + ask.reason();
    return new Notice.Lost(Notice.LossReason.FORCED, "taken away by " + ask.requester() + reason);
  }

  void forceRelease(ClientEvent.ForceRelease event) {
    if (!world.mirror.isCurrent()) {
      world.fail(event.call(), Failure.Kind.UNAVAILABLE, World.NO_CONTACT);
      return;
    }
    List<NodeKey> unread =
        holders(event.lock()).stream()
            .filter(holder -> !holder.isDescribed())
            .limit(MAX_ENTRIES_OF_OTHERS)
            .map(holder -> new NodeKey(event.lock(), holder.name().text()))
            .toList();
    // Whose an entry is, and its token, says its data.
    readings.read(unread, () -> forceKnown(event));
  }

  private void forceKnown(ClientEvent.ForceRelease event) {
    List<Entry> holders =
        holders(event.lock()).stream()
            .filter(holder -> event.token() == 0 || hasToken(holder, event.token()))
            .toList();
    if (holders.isEmpty()) {
      world.fail(
          event.call(),
          Failure.Kind.NO_HOLDER,
          event.token() == 0
              ? "nobody holds lock '" + event.lock() + "'"
              : "nobody holds lock '" + event.lock() + "' with the token " + event.token());
      return;
    }
    if (event.ask().deadline().isEmpty()) {
      force(event.lock(), holders, event.ask(), Optional.of(event.call()));
    } else if (graces >= MAX_GRACES) {
      world.fail(
          event.call(),
          Failure.Kind.TOO_MANY,
          "the coordinator has its limit of " + MAX_GRACES + " forced releases waiting");
    } else {
      forceLater(event, holders);
    }
  }

  private static boolean hasToken(Entry holder, long token) {
    return holder.token().filter(t -> t.value() == token).isPresent();
  }

  private void forceLater(ClientEvent.ForceRelease event, List<Entry> holders) {
    ReleaseAsk force = event.ask();
    ReleaseAsk first =
        new ReleaseAsk(
            force.id() + "-first", force.requester(), force.reason(), force.deadline(), false);
    ask(event.lock(), holders, first, outcome -> {});
    graces++;
    world.timers.at(
        world.now + force.deadline().map(Duration::toNanos).orElse(0L),
        () -> {
          graces--;
          List<Entry> still =
              holders(event.lock()).stream()
                  .filter(holder -> holders.stream().anyMatch(asked -> isOfOne(asked, holder)))
                  .toList();
          force(event.lock(), still, force, Optional.empty());
        });
    world.reply(event.call(), new Answer.Forced(0, holders.size()));
  }

  /** Whoever was asked may have taken the lock once more meanwhile. */
  private static boolean isOfOne(Entry asked, Entry holder) {
    boolean samePlace = asked.name().isAtPlaceOf(holder.name());
    return asked == holder || (samePlace && asked.mode().isReentrant());
  }

  private boolean isThere(LockName lock, Entry entry) {
    return world.mirror.find(lock, entry.name().text()).filter(e -> e == entry).isPresent();
  }

  private void force(LockName lock, List<Entry> holders, ReleaseAsk ask, Optional<CallId> call) {
    List<NodeKey> keys = holders.stream().map(h -> new NodeKey(lock, h.name().text())).toList();
    call.ifPresent(c -> forcings.await(c, keys));
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
  private void forceOther(LockName lock, Entry holder, ReleaseAsk ask) {
    List<NodeKey> key = List.of(new NodeKey(lock, holder.name().text()));
    boolean curators = holder.details().filter(d -> d.leaseId().isEmpty()).isPresent();
    if (curators) {
      amendments.send(key, new Amendment.Remove(), outcome -> {});
      return;
    }
    amendments.send(key, new Amendment.Ask(ask), outcome -> {});
    world.timers.at(
        world.now + PEER_NANOS,
        () -> {
          if (isThere(lock, holder)) {
            amendments.send(key, new Amendment.Remove(), outcome -> {});
          }
        });
  }
}
