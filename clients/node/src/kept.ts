import { create } from '@bufbuild/protobuf';
import { Acquisition, Deferred, type Hold, type State, type Told } from './acquisition.js';
import { NotAcquiredError } from './errors.js';
import { toDuration } from './messages.js';
import { now, Timers } from './timers.js';
import type { Grant } from './events.js';
import type { Lease } from './lease.js';
import type { Request } from './requests.js';
import { JeopardySchema, ReleaseOutcome, ReleaseResponseSchema, type Granted, type ReleaseResponse } from './gen/lockkeeper/v1/acquisition_pb.js';

const MOST_UNUSED = 1000;
const RELEASED = create(ReleaseResponseSchema, { outcome: ReleaseOutcome.RELEASED });

/** One caller's use of a lock that is kept, from the asking to its end. */
export class Use implements Hold {
  state: State = 'waiting';
  grants: readonly Grant[] = [];
  lostReason = '';
  /** What it uses, or has asked a server for. */
  kept!: Kept;
  /** Where it waits for others in the client. */
  line: Line | undefined;
  readonly holdLimit = Infinity;
  readonly granted = new Deferred<undefined>();
  readonly ended = new Deferred<ReleaseResponse | undefined>();
  readonly giveUp: number;

  /** @param place what it is called while it waits in the client */
  constructor(
    readonly place: string,
    readonly request: Request,
    readonly tell: Told,
  ) {
    this.giveUp = request.giveUp;
  }

  get id(): string {
    return this.kept.id;
  }

  get owner(): string {
    return this.request.options.owner ?? '';
  }

  until(leaseDeadline: number): number {
    return this.kept.until(leaseDeadline);
  }

  /** What one user knows to be lost is lost for all. */
  lose(reason: string): void {
    this.kept.lose(reason);
  }

  onLost(reason: string): void {
    this.lostReason = reason;
    this.finish(undefined);
    this.tell({ case: 'gone', value: reason });
  }

  fail(error: Error): void {
    this.granted.reject(error);
    this.finish(undefined);
  }

  finish(result: ReleaseResponse | undefined): void {
    this.state = 'ended';
    this.ended.resolve(result);
  }
}

/** A request of which the locks serve one user after the other. */
class Kept extends Acquisition {
  readonly likeness: string;
  /** Several are the levels of one owner; none: it is unused, or not granted yet. */
  readonly users = new Set<Use>();
  /** What was said that its next user is to hear, too. */
  readonly said = new Map<string, Parameters<Told>[0]>();
  keepUnused = 0;
  unusedUntil = Infinity;
  /** When its timer runs. */
  wakesAt = Infinity;
  /** Until when it is handed on in the client although others want it; Infinity: nobody does. */
  handedOnUntil = Infinity;
  /** Who hears how the request goes, and then its release. */
  last: Use | undefined;

  constructor(
    id: string,
    asks: Use,
    private readonly keeper: Keeper,
  ) {
    const tell: Told = (what) => {
      keeper.hear(this, what);
    };
    super(id, asks.request.toKept(), tell, asks.granted);
    this.last = asks;
    this.giveUp = asks.giveUp;
    this.likeness = asks.request.likeness;
    this.keepUnused = asks.request.options.keepUnused ?? 0;
  }

  get isWanted(): boolean {
    return this.handedOnUntil !== Infinity;
  }

  override onGranted(granted: Granted): void {
    super.onGranted(granted);
    this.keeper.onGranted(this);
  }

  override onReleasing(): void {
    this.keeper.onAskOver(this);
  }

  override finish(result: ReleaseResponse | undefined): void {
    super.finish(result);
    this.keeper.onEnded(this, result);
  }
}

/** What there is of requests that are alike. Who waits does so only where they exclude each other. */
class Line {
  /** The last one is taken first, so that the others run out of time. */
  readonly unused: Kept[] = [];
  /** The one for which those who come wait: it excludes them, and nobody else wants it. */
  used: Kept | undefined;
  /** The one that a server was asked for, with no grant yet. The others wait: at the server they would look as if somebody else wanted the lock. */
  asked: Kept | undefined;
  /** Who waits for what is used, and comes next. */
  waiting = new Set<Use>();
  /** Who waits behind the one that was asked for. */
  behind = new Set<Use>();

  constructor(readonly likeness: string) {}

  get isEmpty(): boolean {
    return this.unused.length === 0 && this.used === undefined && this.asked === undefined && this.waiting.size === 0 && this.behind.size === 0;
  }

  /** What was asked for is granted: who waits does so for that now. */
  onGranted(kept: Kept): void {
    this.asked = undefined;
    this.used = kept;
    this.waiting = this.waiting.size === 0 ? this.behind : new Set([...this.waiting, ...this.behind]);
    this.behind = new Set();
  }

  /** What is used goes to nobody of those who wait: they come before those who came later. */
  sendBehind(): void {
    this.behind = this.behind.size === 0 ? this.waiting : new Set([...this.waiting, ...this.behind]);
    this.waiting = new Set();
  }

  remove(use: Use): void {
    this.waiting.delete(use);
    this.behind.delete(use);
  }
}

/** The locks of a lease that are kept: which there are, who uses them, and who waits for them in the client. */
export class Keeper {
  /** How many wait in the client. */
  waiting = 0;
  private unused = 0;
  /** For how long a lock that is wanted back goes to those who waited in the client before. */
  private readonly handedOn = 1000;
  private readonly lines = new Map<string, Line>();
  private readonly owners = new Map<string, Set<Kept>>();
  private readonly timers = new Timers();

  constructor(
    readonly lease: Lease,
    private readonly nextId: () => string,
  ) {}

  /**
   * Grants what is kept, waits for it, or asks a server for what is to be kept. Undefined: the request has nothing to do with that.
   *
   * @throws NotAcquiredError if it may not wait for another user, or would wait for its own owner
   */
  ask(request: Request, tell: Told): Use | undefined {
    const outer = this.outerOf(request);
    if (outer !== undefined) {
      return this.begin(outer, new Use(this.nextId(), request, tell));
    }
    if (request.options.keepUnused === undefined) {
      return undefined;
    }
    const use = new Use(this.nextId(), request, tell);
    const line = this.lines.get(request.likeness);
    const unused = line?.unused.at(-1);
    if (line !== undefined && unused !== undefined && this.lease.isValid(unused)) {
      line.unused.pop();
      this.unused--;
      line.used = request.isExclusive ? unused : undefined;
      this.tidy(line);
      return this.begin(unused, use);
    }
    if (this.waitsForOwner(request)) {
      throw wouldWaitForItself(request);
    }
    const used = line?.used !== undefined && this.lease.isValid(line.used);
    if (line !== undefined && (used || line.asked !== undefined)) {
      this.wait(line, used ? line.waiting : line.behind, use);
    } else {
      this.askServer(use);
    }
    return use;
  }

  /** Ends a use: it is given back, or its request withdrawn. */
  release(use: Use): void {
    if (use.line !== undefined) {
      this.unqueue(use);
      use.fail(new NotAcquiredError(`${String(use.request)}: withdrawn`, 'WITHDRAWN'));
    } else if (use.state === 'held') {
      this.giveBack(use.kept, use);
    } else if (use.state === 'waiting' || use.lostReason !== '') {
      this.lease.release(use.kept);
    }
  }

  // What a server says of a lock that is kept.

  onGranted(kept: Kept): void {
    const { last } = kept;
    const isWanted = kept.grants.some((grant) => grant.waiters > 0);
    const line = this.lineOf(kept.likeness);
    if (kept.request.isExclusive) {
      line.onGranted(kept);
    }
    if (last !== undefined) {
      kept.last = undefined; // the caller's own is not held on to for as long as the lock is kept
      this.begin(kept, last);
    }
    kept.grants = kept.grants.map((grant) => ({ ...grant, previousEnd: 'RELEASED' })); // of who comes next
    if (last !== undefined) {
      this.beginLevels(kept, last, line);
    }
    if (isWanted) {
      this.want(kept);
    }
    this.tidy(line);
  }

  hear(kept: Kept, what: Parameters<Told>[0]): void {
    if (what.case === 'gone') {
      this.onLost(kept, what.value);
    } else if (kept.state === 'waiting') {
      kept.last?.tell(what);
    } else if (kept.state === 'held') {
      const users = [...kept.users];
      if (what.case === 'contended') {
        const { name, waiters } = what.value;
        kept.grants = kept.grants.map((grant) => (grant.name === name ? { ...grant, waiters } : grant));
      }
      if (what.case === 'contended' || what.case === 'releaseRequested') {
        kept.said.set(what.case, what);
        this.want(kept);
      } else if (what.case === 'jeopardy') {
        this.want(kept);
      }
      users.forEach((use) => {
        use.tell(what);
      });
    }
  }

  onEnded(kept: Kept, result: ReleaseResponse | undefined): void {
    this.forget(kept);
    kept.last?.finish(result);
    this.onAskOver(kept);
  }

  /** It is not asked for any more, and was not granted: the next one asks. */
  onAskOver(kept: Kept): void {
    const line = this.lines.get(kept.likeness);
    if (line?.asked === kept) {
      line.asked = undefined;
      this.askNext(line);
    }
  }

  private onLost(kept: Kept, reason: string): void {
    const users = [...kept.users];
    this.forget(kept);
    this.sendOn(kept);
    users.forEach((use) => {
      use.onLost(reason);
    });
  }

  // Users, one after the other.

  private begin(kept: Kept, use: Use): Use {
    use.kept = kept;
    use.state = 'held';
    kept.users.add(use);
    use.grants = kept.users.size === 1 ? kept.grants : kept.grants.map((grant) => ({ ...grant, holdCount: kept.users.size }));
    if (use.owner !== '') {
      this.owners.set(use.owner, (this.owners.get(use.owner) ?? new Set()).add(kept));
    }
    kept.said.forEach(use.tell);
    if (kept.jeopardyUntil !== Infinity) {
      use.tell({ case: 'jeopardy', value: create(JeopardySchema, { validFor: toDuration(Math.max(0, kept.jeopardyUntil - now())) }) });
    }
    use.granted.resolve(undefined);
    return use;
  }

  private giveBack(kept: Kept, use: Use): void {
    kept.users.delete(use);
    const remainingHolds = kept.users.size;
    if (remainingHolds > 0) {
      use.finish(create(ReleaseResponseSchema, { outcome: ReleaseOutcome.DECREMENTED, remainingHolds }));
      return;
    }
    this.disown(kept, use);
    const line = this.lines.get(kept.likeness);
    const next = line !== undefined && now() < kept.handedOnUntil ? this.nextOf(line.waiting) : undefined; // the timer may be late
    if (!this.lease.isValid(kept) || (next === undefined && (kept.isWanted || this.unused >= MOST_UNUSED))) {
      use.state = 'releasing';
      kept.last = use;
      this.letGo(kept);
      return;
    }
    use.finish(RELEASED);
    if (line === undefined || next === undefined) {
      this.shelve(kept, use.request.options.keepUnused);
    } else {
      this.unqueue(next);
      this.begin(kept, next);
      this.beginLevels(kept, next, line);
    }
  }

  /** Who waits for what its own owner uses since now, by a request made at the same time, has it too, or would wait for itself. */
  private beginLevels(kept: Kept, { owner }: Use, line: Line): void {
    if (owner === '') {
      return;
    }
    for (const level of line.waiting) {
      if (level.owner === owner) {
        this.unqueue(level);
        if (level.request.takesItsOwn) {
          level.fail(wouldWaitForItself(level.request));
        } else {
          this.begin(kept, level);
        }
      }
    }
  }

  private wait(line: Line, queue: Set<Use>, use: Use): void {
    if (use.request.options.wait === 0) {
      throw new NotAcquiredError(`${String(use.request)}: somebody in this client uses it, or asks for it`, 'TIMED_OUT');
    }
    use.line = line;
    queue.add(use);
    this.waiting++;
    this.timers.set(use.place, use.giveUp - now(), () => {
      this.timeOut(use);
    });
  }

  private timeOut(use: Use): void {
    this.unqueue(use);
    use.fail(new NotAcquiredError(`${String(use.request)}: the wait limit ran out`, 'TIMED_OUT'));
  }

  private unqueue(use: Use): void {
    const { line } = use;
    if (line !== undefined) {
      use.line = undefined;
      line.remove(use);
      this.waiting--;
      this.timers.stop(use.place);
      this.tidy(line);
    }
  }

  /** The first who waits, and may yet: timers may be late. */
  private nextOf(queue: Iterable<Use>): Use | undefined {
    for (const use of queue) {
      if (now() < use.giveUp) {
        return use;
      }
      this.timeOut(use);
    }
    return undefined;
  }

  private askServer(use: Use): void {
    const kept = new Kept(this.nextId(), use, this);
    use.kept = kept;
    this.lease.acquire(kept);
    if (kept.request.isExclusive && kept.state === 'waiting') {
      this.lineOf(kept.likeness).asked = kept; // else the lease is over
    }
  }

  /** The first of those who wait for it in the client asks a server, unless one does already. */
  private sendOn({ likeness }: Kept): void {
    const line = this.lines.get(likeness);
    if (line !== undefined) {
      line.sendBehind();
      this.askNext(line);
    }
  }

  private askNext(line: Line): void {
    while (line.asked === undefined) {
      const next = this.nextOf(line.behind);
      if (next === undefined) {
        break;
      }
      if (this.waitsForOwner(next.request)) {
        this.unqueue(next);
        next.fail(wouldWaitForItself(next.request));
      } else {
        this.askServer(next);
        this.unqueue(next);
      }
    }
    this.tidy(line);
  }

  // What is kept, and until when.

  private lineOf(likeness: string): Line {
    let line = this.lines.get(likeness);
    if (line === undefined) {
      line = new Line(likeness);
      this.lines.set(likeness, line);
    }
    return line;
  }

  private tidy(line: Line): void {
    if (line.isEmpty && this.lines.get(line.likeness) === line) {
      this.lines.delete(line.likeness);
    }
  }

  private shelve(kept: Kept, keepUnused = kept.keepUnused): void {
    const line = this.lineOf(kept.likeness);
    if (line.used === kept) {
      line.used = undefined;
    }
    line.unused.push(kept);
    this.unused++;
    kept.unusedUntil = now() + keepUnused;
    if (kept.unusedUntil < kept.wakesAt) {
      this.watchTime(kept);
    }
  }

  /** One timer for all times that it is unused: when it fires too early, it is set again. */
  private watchTime(kept: Kept): void {
    kept.wakesAt = kept.unusedUntil;
    this.timers.set(kept.id, kept.wakesAt - now(), () => {
      kept.wakesAt = Infinity;
      if (kept.users.size === 0 && now() >= kept.unusedUntil) {
        this.letGo(kept);
      } else if (kept.users.size === 0) {
        this.watchTime(kept);
      }
    });
  }

  /** Others want it, and nobody who comes from now on is given it. */
  private want(kept: Kept): void {
    if (kept.isWanted) {
      return;
    }
    kept.handedOnUntil = now() + this.handedOn;
    if (kept.users.size === 0) {
      this.letGo(kept);
      return;
    }
    const isWaitedFor = (this.lines.get(kept.likeness)?.waiting.size ?? 0) > 0;
    this.unshelve(kept);
    this.timers.set(kept.id, isWaitedFor ? this.handedOn : Infinity, () => {
      this.sendOn(kept);
    });
  }

  private letGo(kept: Kept): void {
    this.forget(kept);
    this.lease.release(kept);
    this.sendOn(kept);
  }

  private forget(kept: Kept): void {
    this.unshelve(kept);
    this.timers.stop(kept.id);
    kept.users.forEach((use) => {
      this.disown(kept, use);
    });
    kept.users.clear();
  }

  private unshelve(kept: Kept): void {
    const line = this.lines.get(kept.likeness);
    if (line === undefined) {
      return;
    }
    if (line.used === kept) {
      line.used = undefined;
    }
    const at = line.unused.indexOf(kept);
    if (at >= 0) {
      line.unused.splice(at, 1);
      this.unused--;
    }
    this.tidy(line);
  }

  // Owners: for servers, locks that are kept have none.

  /** What its owner uses and may use once more. */
  private outerOf(request: Request): Kept | undefined {
    const held = this.usedBy(request.options.owner);
    const alike = held.find((kept) => kept.likeness === request.likeness);
    if (alike !== undefined && request.options.maxHold === undefined && !request.takesItsOwn) {
      return alike;
    }
    if (held.some((kept) => request.excludes(kept.request))) {
      throw wouldWaitForItself(request);
    }
    return undefined;
  }

  private usedBy(owner = ''): Kept[] {
    const used = owner === '' ? undefined : this.owners.get(owner);
    return used === undefined ? [] : [...used].filter((kept) => this.lease.isValid(kept));
  }

  /** Whether a request that asks a server without its owner would wait for what that holds by another one. */
  private waitsForOwner(request: Request): boolean {
    const { owner = '' } = request.options;
    const isHeldAgainst = (other: Acquisition): boolean => other.state === 'held' && other.request.options.owner === owner && request.excludes(other.request);
    return owner !== '' && (this.usedBy(owner).some((kept) => request.excludes(kept.request)) || [...this.lease.acquisitions.values()].some(isHeldAgainst));
  }

  private disown(kept: Kept, use: Use): void {
    const used = this.owners.get(use.owner);
    used?.delete(kept);
    if (used?.size === 0) {
      this.owners.delete(use.owner);
    }
  }
}

function wouldWaitForItself(request: Request): NotAcquiredError {
  const { owner = '' } = request.options;
  return new NotAcquiredError(
    `${String(request)}: the owner ${JSON.stringify(owner)} holds one of these by another request, and would wait for itself`,
    'WOULD_DEADLOCK',
  );
}
