package io.lockkeeper.server.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Tells whether a request came before, and brings back what only memory knew: a client that comes
 * to another coordinator repeats what it asked for, with the tokens of what it holds.
 */
final class Repeats {

  private Repeats() {}

  /** Returns whether an acquisition is what is asked for now. */
  static boolean isSame(Ticket ticket, AcquireCommand asked) {
    Optional<Revival> rough = ticket.revival().filter(Revival::isRough);
    if (rough.isEmpty()) {
      return ticket.command().asksTheSameAs(asked);
    }
    return ticket.command().owner().equals(asked.owner())
        && rough.get().locks() == asked.locks().size()
        && ticket.holds().stream()
            .allMatch(hold -> asked.locks().stream().anyMatch(wanted -> fits(hold, wanted)));
  }

  /** Returns whether what has ended is what is asked for now. */
  static boolean isSame(Lease.Ended ended, AcquireCommand asked) {
    return ended.rough()
        ? ended.command().owner().equals(asked.owner())
            && ended.command().locks().stream()
                .allMatch(part -> asked.locks().stream().anyMatch(wanted -> fits(part, wanted)))
        : ended.command().asksTheSameAs(asked);
  }

  /** Returns whether only its entries tell what an acquisition asked for. */
  static boolean isRough(Ticket ticket) {
    return ticket.revival().isPresent() && ticket.revival().get().isRough();
  }

  private static boolean fits(AcquireCommand.WantedLock part, AcquireCommand.WantedLock wanted) {
    return part.name().equals(wanted.name()) && isAlike(part.mode(), wanted.mode());
  }

  private static boolean fits(Hold hold, AcquireCommand.WantedLock wanted) {
    return hold.lock().equals(wanted.name()) && isAlike(hold.name().mode(), wanted.mode());
  }

  /** The limit of permits may have been left to the lock. */
  private static boolean isAlike(Mode mode, Mode wanted) {
    return mode.equals(wanted)
        || (mode instanceof PermitsKind.Permits permits
            && wanted instanceof PermitsKind.Permits others
            && permits.permits() == others.permits());
  }

  /**
   * Brings what was asked for into an acquisition that is known by its entries only; returns false
   * if some of what it shared with others of its owner is not there any more.
   */
  static boolean complete(Ticket ticket, AcquireCommand asked) {
    Optional<Revival> rough = ticket.revival().filter(Revival::isRough);
    if (rough.isEmpty()) {
      // It may have been back where it was, and have been granted there.
      ticket.revival().filter(revival -> knows(asked, ticket.holds())).ifPresent(Revival::assure);
      return true;
    }
    List<Part> parts = new ArrayList<>(asked.locks().size());
    List<Hold> holds = new ArrayList<>(asked.locks().size());
    for (int i = 0; i < asked.locks().size(); i++) {
      AcquireCommand.WantedLock wanted = asked.locks().get(i);
      Optional<Hold> own =
          ticket.holds().stream().filter(hold -> hold.lock().equals(wanted.name())).findFirst();
      Optional<Long> token = asked.heldTokens().stream().skip(i).findFirst();
      Optional<Hold> hold = own.or(() -> shared(ticket.lease(), asked.owner(), wanted, token));
      if (hold.isEmpty()) {
        return false;
      }
      holds.add(hold.get());
      parts.add(
          own.isPresent()
              ? new Part.Fresh(
                  new PlannedEntry(wanted.name(), own.get().name().mode(), Optional.empty()),
                  Optional.empty())
              : new Part.Shared(hold.get()));
    }
    rough.get().completed();
    ticket.complete(asked, parts, holds);
    if (knows(asked, holds)) {
      rough.get().assure();
    }
    return true;
  }

  /** Returns whether the client names the tokens of just these holds. */
  static boolean knows(AcquireCommand asked, List<Hold> holds) {
    return asked.heldTokens().equals(holds.stream().map(hold -> hold.token().value()).toList());
  }

  /**
   * Finds what an owner has that a request may share. It may have a lock by several entries: it
   * reads, and reads on from what it wrote; so the token tells, if it is known.
   */
  private static Optional<Hold> shared(
      Lease lease, String owner, AcquireCommand.WantedLock wanted, Optional<Long> token) {
    return held(lease, owner)
        .filter(hold -> hold.lock().equals(wanted.name()))
        .filter(hold -> hold.name().mode().equals(wanted.mode()) && wanted.mode().isReentrant())
        .filter(hold -> token.isEmpty() || token.get() == hold.token().value())
        .findFirst();
  }

  /** What an owner has, also where it is not certain yet that it holds it. */
  private static Stream<Hold> held(Lease lease, String owner) {
    return owner.isEmpty()
        ? Stream.empty()
        : lease.tickets().values().stream()
            .filter(ticket -> ticket.command().owner().equals(owner))
            .filter(ticket -> ticket.acquisition().isHeld() || ticket.acquisition().isWaiting())
            .flatMap(ticket -> ticket.holds().stream());
  }

  /**
   * Returns how an acquisition goes on that held its locks by sharing those of its owner; empty if
   * they are not there any more.
   */
  static Optional<List<Part>> shares(Lease lease, AcquireCommand asked) {
    List<Part> parts = new ArrayList<>(asked.locks().size());
    for (int i = 0; i < asked.locks().size() && i < asked.heldTokens().size(); i++) {
      Optional<Long> token = Optional.of(asked.heldTokens().get(i));
      shared(lease, asked.owner(), asked.locks().get(i), token)
          .ifPresent(hold -> parts.add(new Part.Shared(hold)));
    }
    return parts.size() == asked.locks().size() ? Optional.of(parts) : Optional.empty();
  }

  /**
   * Finds an acquisition whose entry said nothing of its name, by its tokens, and gives it the name
   * that it is asked for by.
   */
  static Optional<Ticket> byTokens(Lease lease, AcquireCommand asked) {
    Optional<Ticket> found =
        lease.tickets().values().stream()
            .filter(Repeats::isRough)
            .filter(ticket -> ticket.command().requestId().startsWith("?"))
            .filter(ticket -> asked.locks().size() == ticket.holds().size())
            .filter(ticket -> knows(asked, ticket.holds()))
            .findFirst();
    found.ifPresent(
        ticket -> {
          lease.tickets().remove(ticket.command().requestId());
          lease.tickets().put(asked.requestId(), ticket);
        });
    return found;
  }

  /** Returns what a client is told that holds something of which nothing is left. */
  static Notice.Lost gone() {
    return new Notice.Lost(Notice.LossReason.REMOVED, "nothing of it was left in ZooKeeper");
  }

  /** Returns the ending as it concerns a client that holds: an acquisition that was lost. */
  static Notice ending(Lease.Ended ended, AcquireCommand asked) {
    boolean held = !asked.heldTokens().isEmpty();
    return held && ended.notice() instanceof Notice.NotAcquired ? gone() : ended.notice();
  }
}
