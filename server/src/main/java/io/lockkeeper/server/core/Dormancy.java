package io.lockkeeper.server.core;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Keeps what was adopted untouched while its client may rely on the coordinator that served it
 * before. That one may live, cut off from ZooKeeper or not told yet: its client may have been
 * granted something that does not show, or be told so until the old session bound has passed, also
 * if it was here in between. So before that nothing is granted whose client has not come, and
 * nothing is ended by a clock.
 */
final class Dormancy {

  private final World world;
  private final Waits waits;
  private final Grants grants;
  private final Limits limits;
  private final Acquisitions acquisitions;
  private Consumer<Ticket> onWaiting = ticket -> {};

  Dormancy(World world, Waits waits, Grants grants, Limits limits, Acquisitions acquisitions) {
    this.acquisitions = acquisitions;
    this.world = world;
    this.waits = waits;
    this.grants = grants;
    this.limits = limits;
  }

  /**
   * Says who hears of those that wait and may be ended; returns who is to be told of all that wait.
   */
  Consumer<Ticket> before(Consumer<Ticket> listener) {
    onWaiting = listener;
    return ticket -> {
      onPlaced(ticket);
      listener.accept(ticket);
    };
  }

  /** Returns an acquisition that its client asks for by name: it is here. */
  Optional<Ticket> find(Lease lease, String requestId) {
    Optional<Ticket> ticket = Optional.ofNullable(lease.tickets().get(requestId));
    if (ticket.isPresent()) {
      attend(ticket.get());
    }
    return ticket;
  }

  /** The client of a lease is here. */
  void attendAll(Lease lease) {
    List.copyOf(lease.tickets().values()).forEach(this::attend);
  }

  /** Lets an acquisition hold or wait, as the queues say. */
  void attend(Ticket ticket) {
    if (ticket.isDormant()) {
      ticket.revival().ifPresent(Revival::attend);
      begin(ticket);
    }
  }

  /** Nobody else can vouch for the acquisitions of a lease any more. */
  void wakeAll(Lease lease) {
    List.copyOf(lease.tickets().values()).forEach(this::wake);
  }

  /** The client of an acquisition has repeated its request. */
  void repeated(Ticket ticket) {
    attend(ticket);
    if (!ticket.lease().mayBeVouchedElsewhere(world.now)) {
      wake(ticket);
    }
  }

  private void wake(Ticket ticket) {
    Optional<Revival> sleeping = ticket.revival().filter(revival -> !revival.isAwake());
    if (sleeping.isPresent()) {
      boolean first = sleeping.get().isDormant();
      sleeping.get().wake();
      if (first) {
        begin(ticket);
      }
      if (ticket.wasPlaced() && ticket.acquisition().isWaiting()) {
        onPlaced(ticket);
        onWaiting.accept(ticket);
      }
      for (Hold hold : ticket.holds()) {
        world
            .mirror
            .find(hold.lock(), hold.name().text())
            .ifPresent(entry -> limits.onQueued(hold.lock(), entry));
      }
      forgetIfReleased(ticket);
      boolean waits = ticket.acquisition().isWaiting() && world.mirror.isCurrent();
      if (waits && ticket.hasOwnStream() && ticket.target().isEmpty()) {
        this.waits.linger(ticket);
      }
    }
  }

  /**
   * Takes away what an entry says of a request that was released before, when another one that
   * shared the entry lived on and its name had not been written yet: nobody has repeated it.
   */
  void forgetOthersReleased(Ticket ticket) {
    if (!isShared(ticket)) {
      return;
    }
    ticket.holds().stream()
        .flatMap(hold -> hold.users().stream())
        .distinct()
        .filter(user -> user != ticket)
        .toList()
        .forEach(this::forgetIfReleased);
  }

  private static boolean isShared(Ticket ticket) {
    for (Hold hold : ticket.holds()) {
      if (hold.users().size() > 1) {
        return true;
      }
    }
    return false;
  }

  private void forgetIfReleased(Ticket ghost) {
    if (Repeats.isRough(ghost) && ghost.holds().stream().allMatch(Dormancy::isSharedOnPurpose)) {
      acquisitions.apply(ghost, new AcquisitionEvent.ReleaseAsked());
    }
  }

  private static boolean isSharedOnPurpose(Hold hold) {
    return hold.users().stream().anyMatch(user -> !Repeats.isRough(user));
  }

  /** An acquisition has been told that it waits: its clocks run, if they may. */
  void onPlaced(Ticket ticket) {
    ticket
        .revival()
        .filter(revival -> ticket.acquisition().isWaiting() && revival.startsClocks())
        .ifPresent(revival -> waits.arm(ticket, revival.waitedNanos()));
  }

  private void begin(Ticket ticket) {
    grants.settle(ticket);
    if (ticket.acquisition().isHeld()) {
      // As far as anybody knows its client was told so before.
      ticket.markHeard();
    }
    ticket.holds().forEach(this::readAgain);
  }

  /** A wish to give way may have been written into the entry when nobody was told. */
  private void readAgain(Hold hold) {
    world
        .mirror
        .find(hold.lock(), hold.name().text())
        .filter(entry -> hold.wasGranted() && !entry.markChanged())
        .ifPresent(entry -> world.emit(new Effect.ReadDetails(hold.lock(), hold.name().text())));
  }
}
