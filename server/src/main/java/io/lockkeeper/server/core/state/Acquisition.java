package io.lockkeeper.server.core.state;

import io.lockkeeper.server.core.api.AcquireCommand;
import io.lockkeeper.server.core.api.CallId;
import io.lockkeeper.server.core.api.HoldEnd;
import io.lockkeeper.server.core.api.LeaseEnd;
import io.lockkeeper.server.core.api.Notice;
import io.lockkeeper.server.core.api.SessionEvent;
import io.lockkeeper.server.core.api.StoreEvent;
import io.lockkeeper.server.core.api.StreamId;
import io.lockkeeper.server.core.lock.AccountTag;
import io.lockkeeper.server.core.lock.EntryDetails;
import io.lockkeeper.server.core.lock.EntryRef;
import io.lockkeeper.server.core.lock.EntryTerms;
import io.lockkeeper.server.core.lock.LockName;
import io.lockkeeper.server.core.lock.MarkerName;
import io.lockkeeper.server.core.lock.PlannedEntry;
import io.lockkeeper.server.core.queue.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** One acquisition that this coordinator serves: its state machine, and who hears of it. */
public final class Acquisition {

  private final UUID id;
  private final Lease lease;
  private final AcquireCommand command;
  private final Optional<AdoptedState> adoptedState;
  private final List<CallId> releaseCalls = new ArrayList<>(0);
  private final AcquisitionTimers timers = new AcquisitionTimers();
  private final AcquisitionTimes times = new AcquisitionTimes();
  private final AcquisitionDescription description;
  private final List<PlannedEntry> planned;
  private final List<Hold> holds;
  private AcquisitionState state = AcquisitionState.enqueuing();
  private Optional<StreamId> stream = Optional.empty();
  private Optional<Notice> lastNotice = Optional.empty();
  private long pathBytes;
  private long entryBytes;
  private int remainingHolds;
  private long sequence;
  private long noticeSequence;
  private int lastAhead = -1;
  private boolean heard = true;
  private boolean warned;
  private boolean notifyContention;
  private boolean contentionTold;
  private boolean answered;
  private boolean refused;
  private boolean givenBack;
  private boolean toTryAgain;
  private int tries;
  private boolean toBeDeleted;
  private long deletableFromNanos;
  private List<EntryRef> leaving = List.of();
  private boolean ownStream;
  private boolean cameBack;
  private boolean asksToEnd;
  private long cameBackAtNanos;

  private Acquisition(
      UUID id,
      Lease lease,
      AcquireCommand command,
      List<PlannedEntry> planned,
      Optional<AdoptedState> adoptedState) {
    this.id = id;
    this.lease = lease;
    this.command = command;
    this.planned = List.copyOf(planned);
    this.adoptedState = adoptedState;
    holds = new ArrayList<>(planned.size());
    description = new AcquisitionDescription(command.metadata());
    notifyContention = command.notifyContention();
  }

  /**
   * Makes the acquisition of a request that has come here.
   *
   * @param adoptedState how far it may be ended here, if another coordinator granted it before
   */
  public static Acquisition of(
      UUID id,
      Lease lease,
      AcquireCommand command,
      List<Placement> placements,
      Optional<AdoptedState> adoptedState) {
    List<PlannedEntry> planned = new ArrayList<>(placements.size());
    for (Placement placement : placements) {
      planned.add(placement.entry());
    }
    Acquisition acquisition = new Acquisition(id, lease, command, planned, adoptedState);
    for (Placement placement : placements) {
      acquisition.holds.add(new Hold(acquisition, placement));
    }
    return acquisition;
  }

  /** Makes an acquisition of which another coordinator left the entries; the mirror tells more. */
  public static Acquisition adopted(
      UUID id,
      Lease lease,
      AcquireCommand command,
      List<SessionEvent.AdoptedEntry> entries,
      boolean ownStream,
      AdoptedState adoptedState) {
    List<PlannedEntry> planned = new ArrayList<>(entries.size());
    for (SessionEvent.AdoptedEntry entry : entries) {
      planned.add(new PlannedEntry(entry.lock(), entry.name().mode(), Optional.empty()));
    }
    Acquisition acquisition =
        new Acquisition(id, lease, command, planned, Optional.of(adoptedState));
    for (SessionEvent.AdoptedEntry entry : entries) {
      acquisition.holds.add(new Hold(acquisition, entry));
    }
    acquisition.ownStream = ownStream;
    acquisition.state = AcquisitionState.queued();
    acquisition.answered = true;
    return acquisition;
  }

  /** Returns the acquisition of this coordinator that an entry belongs to, if it does. */
  public static Optional<Acquisition> of(Entry entry) {
    return Hold.of(entry).map(Hold::acquisition);
  }

  /** Returns how it came here, if another coordinator served it before. */
  public Optional<AdoptedState> adoptedState() {
    return adoptedState;
  }

  /** Returns whether another coordinator served it, and its client has not repeated it here. */
  public boolean isUnrepeated() {
    return adoptedState.isPresent() && !adoptedState.get().isRepeated();
  }

  /** Returns whether its client has not come here yet, so that nothing may be done with it. */
  public boolean isDormant() {
    return adoptedState.isPresent() && adoptedState.get().isDormant();
  }

  /**
   * Returns whether something that is decided here may end it: not while its client may rely on
   * another coordinator, and not the wait for what its client was granted there.
   */
  public boolean mayEnd() {
    return (adoptedState.isEmpty() || adoptedState.get().isAwake())
        && !(state.isWaiting() && (wasGranted() || isClaimed()));
  }

  /** Returns from when on it may be ended here, which may be now. */
  public long awakeAtNanos(long nowNanos) {
    return adoptedState
        .filter(state -> !state.isAwake())
        .map(AdoptedState::awakeAtNanos)
        .filter(at -> at - nowNanos > 0)
        .orElse(nowNanos);
  }

  /** Returns whether its entries say nothing of whose they are: somebody has overwritten that. */
  public boolean isNameless() {
    return adoptedState.isPresent() && adoptedState.get().isNameless();
  }

  /** Returns whether it holds or held, as far as anybody can know. */
  public boolean mayHaveHeld() {
    return wasGranted() || isClaimed() || (adoptedState.isPresent() && !wasPlaced());
  }

  /**
   * Returns whether its client names the tokens of a grant by another coordinator: it is granted
   * once the queue confirms that, and lost otherwise.
   */
  public boolean isClaimed() {
    return adoptedState.isPresent() && adoptedState.get().isClaimed();
  }

  public UUID id() {
    return id;
  }

  public Lease lease() {
    return lease;
  }

  public AcquireCommand command() {
    return command;
  }

  public AcquisitionState state() {
    return state;
  }

  public void become(AcquisitionState next) {
    state = next;
  }

  /** Returns whether its client may use its locks, as far as is known, though it may wait here. */
  public boolean isReliedOn() {
    return state.isLive() && (wasGranted() || isClaimed());
  }

  /** Returns whether it was ever held, here or elsewhere. */
  public boolean wasGranted() {
    for (Hold hold : holds) {
      if (hold.wasGranted()) {
        return true;
      }
    }
    return false;
  }

  /** Returns the entries that are to be created, or were, in the order of the request. */
  public List<PlannedEntry> planned() {
    return planned;
  }

  /** Returns what it waits for or holds, in the order of the request. */
  public List<Hold> holds() {
    return holds;
  }

  /** Returns what it has of a lock that it asked for. */
  public Optional<Hold> hold(LockName lock) {
    for (Hold hold : holds) {
      if (hold.lock().equals(lock)) {
        return Optional.of(hold);
      }
    }
    return Optional.empty();
  }

  /** ZooKeeper has created its entries, all of them. */
  public void created(List<StoreEvent.CreatedEntry> created) {
    answered = true;
    for (int i = 0; i < created.size(); i++) {
      holds.get(i).created(created.get(i));
    }
  }

  /** ZooKeeper has refused to create its entries. */
  public void refused() {
    answered = true;
    refused = true;
  }

  /** Its entries were refused and are to be asked for again; returns how often they were before. */
  public int triesAgain() {
    toTryAgain = true;
    return tries++;
  }

  /** Its entries have been asked for again. */
  public void triedAgain() {
    toTryAgain = false;
  }

  /** Returns whether its entries were refused and are to be asked for again. */
  public boolean isToTryAgain() {
    return toTryAgain && !answered;
  }

  /** Returns whether ZooKeeper has refused to create its entries. */
  public boolean isRefused() {
    return refused;
  }

  /** Returns whether ZooKeeper has created its entries, or has refused to. */
  public boolean isAnswered() {
    return answered;
  }

  /** Its entries are to be deleted, from a time on. */
  public void deleteFrom(long fromNanos) {
    toBeDeleted = true;
    deletableFromNanos = fromNanos;
  }

  /** Returns whether its entries are to be deleted, and that has not been asked for. */
  public boolean isToBeDeleted() {
    return toBeDeleted;
  }

  /** Returns from when on its entries may be deleted; meaningful once they are to be. */
  public long deletableFromNanos() {
    return deletableFromNanos;
  }

  /** The deletion of its entries has been asked for. */
  public void deleting(List<EntryRef> entries) {
    toBeDeleted = false;
    leaving = List.copyOf(entries);
  }

  /** Returns the entries that are being deleted. */
  public List<EntryRef> leaving() {
    return leaving;
  }

  /** Remembers how many others of its owner go on holding what it gives back, for the answer. */
  public void leavesBehind(int holds) {
    remainingHolds = holds;
  }

  /** Returns how many others of its owner hold what it gave back. */
  public int remainingHolds() {
    return remainingHolds;
  }

  /** Returns what its entries are created with. */
  public EntryDetails details() {
    return details(Optional.empty());
  }

  /** Returns what its entries say of it. */
  EntryDetails details(Optional<Long> needsMillis) {
    return new EntryDetails(
        lease.id().toString(),
        command.requestId(),
        command.owner(),
        lease.holderOf(command),
        description.metadata(),
        lease.isStream(),
        command.unsearched(),
        needsMillis,
        Optional.empty(),
        new EntryTerms(
            adoptedState.map(AdoptedState::locks).orElse(command.locks().size()),
            command.waitTimeout(),
            command.maxHold(),
            command.lockDelay(),
            guardAccount(),
            ownStream));
  }

  /** Returns the account that its guards count for: as they are named, also once adopted. */
  private String guardAccount() {
    return holds.isEmpty()
        ? AccountTag.NOBODY
        : holds.get(0).guard().map(MarkerName.Guard::account).orElse(AccountTag.NOBODY);
  }

  /** Returns how many bytes of paths are counted for it. */
  public long pathBytes() {
    return pathBytes;
  }

  public void addPathBytes(long bytes) {
    pathBytes += bytes;
  }

  /** Returns about how many bytes its entries take in ZooKeeper. */
  long entryBytes() {
    return entryBytes;
  }

  void addEntryBytes(long bytes) {
    entryBytes += bytes;
    lease.addEntryBytes(bytes);
  }

  /** Returns what it says of itself beside what it asked for. */
  public AcquisitionDescription description() {
    return description;
  }

  public AcquisitionTimers timers() {
    return timers;
  }

  public AcquisitionTimes times() {
    return times;
  }

  /** Returns the acquisition's own stream; without one, notices go to the lease's. */
  public Optional<StreamId> stream() {
    return stream;
  }

  public void subscribe(Optional<StreamId> subscriber) {
    stream = subscriber;
    ownStream |= subscriber.isPresent();
  }

  /** Remembers whether it is being asked if its wait may be ended; returns what was remembered. */
  public boolean asksToEnd(boolean asks) {
    boolean before = asksToEnd;
    asksToEnd = asks;
    return before;
  }

  /** Its client, who had asked for it before, is here again. */
  public void cameBack(long nowNanos) {
    cameBack = true;
    cameBackAtNanos = nowNanos;
  }

  /** Returns whether its client came back after a time. */
  public boolean cameBackSince(long nanos) {
    return cameBack && cameBackAtNanos - nanos > 0;
  }

  /** Returns whether it was asked for on a stream of its own. */
  public boolean hasOwnStream() {
    return ownStream;
  }

  /** Returns where notices go now. */
  public Optional<StreamId> target() {
    return stream.isPresent() ? stream : lease.stream();
  }

  /** Remembers a notice, if it says where the acquisition stands, and numbers it. */
  public long tell(Notice notice) {
    sequence++;
    warned |= notice instanceof Notice.Jeopardy;
    contentionTold |=
        notice instanceof Notice.Contended
            || (notice instanceof Notice.Granted granted && granted.isContended());
    if (!(notice instanceof Notice.Position
        || notice instanceof Notice.Contended
        || notice instanceof Notice.ReleaseRequested
        || notice instanceof Notice.Jeopardy
        || notice instanceof Notice.Safe)) {
      lastNotice = Optional.of(notice);
      noticeSequence = sequence;
      heard = target().isPresent();
    }
    return sequence;
  }

  /** Returns whether a jeopardy was ever told: whether its end was heard, nobody knows. */
  public boolean isWarned() {
    return warned;
  }

  /** Its client says, perhaps once more, whether it wants to be told when somebody waits. */
  public void notifyContention(boolean wanted) {
    notifyContention = wanted;
  }

  /** Returns whether its client wants to be told when somebody waits. */
  public boolean notifiesContention() {
    return notifyContention;
  }

  /** Returns whether its client was told that somebody waits. */
  public boolean isContentionTold() {
    return contentionTold;
  }

  /** Its client may not have heard it. */
  public void forgetContention() {
    contentionTold = false;
  }

  /** Returns the number of {@link #lastNotice}. */
  public long noticeSequence() {
    return noticeSequence;
  }

  /**
   * Returns the number with which {@link #lastNotice} is sent again: its own, unless other notices
   * followed it. A client that received those would take its number for that of a duplicate.
   */
  public long numberAgain() {
    if (noticeSequence != sequence) {
      noticeSequence = ++sequence;
    }
    return noticeSequence;
  }

  /** Returns whether the client was told that it waits. */
  public boolean wasPlaced() {
    return lastNotice.isPresent() && lastNotice.get() instanceof Notice.Queued;
  }

  /** Returns how the entries leave the queue, as far as its ending says. */
  public HoldEnd end() {
    HoldEnd told = state.ending().or(() -> lastNotice).map(HoldEnd::by).orElse(HoldEnd.UNKNOWN);
    if (told != HoldEnd.RELEASED && state.state() != AcquisitionState.State.RELEASING) {
      return told;
    }
    // A cancelled call gives up what it holds at that moment, and only that.
    boolean cancelled = !givenBack && lease.isEnding() && lease.end() == LeaseEnd.CANCELLED;
    return cancelled ? HoldEnd.CANCELLED : HoldEnd.RELEASED;
  }

  /** Returns whether the newest notice of state was sent to somebody. */
  public boolean heard() {
    return heard;
  }

  public void markHeard() {
    heard = true;
  }

  /** Returns the newest notice that says where the acquisition stands. */
  public Optional<Notice> lastNotice() {
    return lastNotice;
  }

  /** Its client gives it back. */
  public void giveBack() {
    givenBack = true;
  }

  /** Returns whether its client has given it back, rather than a clock or somebody else. */
  public boolean isGivenBack() {
    return givenBack;
  }

  public List<CallId> releaseCalls() {
    return releaseCalls;
  }

  /** Returns whether the place differs from the one told last, and remembers it. */
  public boolean moved(int ahead) {
    boolean moved = ahead != lastAhead;
    lastAhead = ahead;
    return moved;
  }
}
