import { create } from '@bufbuild/protobuf';
import { Acquisition, Deferred, giveUpOf, type Hold, type State, type Told } from './acquisition.js';
import { NotAcquiredError } from './errors.js';
import { toDuration } from './messages.js';
import { now, Timers } from './timers.js';
import type { Grant } from './events.js';
import type { Lease } from './lease.js';
import type { Request } from './requests.js';
import { JeopardySchema, ReleaseOutcome, ReleaseResponseSchema, type Granted, type ReleaseResponse } from './gen/lockkeeper/v1/lock_service_pb.js';

const MOST_UNUSED = 1000;
const HANDED_ON = 1000; // for how long a lock that is wanted back goes to those who waited in the client before
const RELEASED = create(ReleaseResponseSchema, { outcome: ReleaseOutcome.RELEASED });

/** One caller's use of a lock that is kept, from the asking to its end. */
export class Use implements Hold {
  state: State = 'waiting';
  grants: readonly Grant[] = [];
  lostReason = '';
  /** What it uses, or waits for. */
  kept!: Kept;
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
    this.giveUp = giveUpOf(request);
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
  /** Who waits for it in the client. */
  readonly waiting = new Set<Use>();
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

  override finish(result: ReleaseResponse | undefined): void {
    super.finish(result);
    this.keeper.onEnded(this, result);
  }
}

/** What is kept of requests that are alike. */
interface Shelf {
  /** The last one is taken first, so that the others run out of time. */
  readonly unused: Kept[];
  /** The one for which those who come wait in the client: it excludes them, and nobody else wants it. */
  used: Kept | undefined;
}

/** The locks of a lease that are kept: which there are, who uses them, and who waits for them in the client. */
export class Keeper {
  /** How many wait in the client. */
  waiting = 0;
  private unused = 0;
  private readonly shelves = new Map<string, Shelf>();
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
    const shelf = this.shelves.get(request.likeness);
    const unused = shelf?.unused.at(-1);
    if (shelf !== undefined && unused !== undefined && this.lease.isValid(unused)) {
      shelf.unused.pop();
      this.unused--;
      shelf.used = request.isExclusive ? unused : undefined;
      return this.begin(unused, use);
    }
    this.refuseWaitForOwner(request);
    if (shelf?.used !== undefined && this.lease.isValid(shelf.used)) {
      this.wait(shelf.used, use);
    } else {
      this.askServer(use);
    }
    return use;
  }

  /** Ends a use: it is given back, or its request withdrawn. */
  release(use: Use): void {
    const { kept } = use;
    if (kept.waiting.has(use)) {
      this.unqueue(use);
      use.fail(new NotAcquiredError(`${String(use.request)}: withdrawn`, 'WITHDRAWN'));
    } else if (use.state === 'held') {
      this.giveBack(kept, use);
    } else if (use.state === 'waiting' || use.lostReason !== '') {
      this.lease.release(kept);
    }
  }

  // What a server says of a lock that is kept.

  onGranted(kept: Kept): void {
    const { last } = kept;
    if (last !== undefined) {
      kept.last = undefined; // the caller's own is not held on to for as long as the lock is kept
      this.begin(kept, last);
    }
    if (kept.grants.some((grant) => grant.waiters > 0)) {
      this.want(kept);
    } else if (kept.request.isExclusive) {
      this.shelfOf(kept).used = kept;
    }
    kept.grants = kept.grants.map((grant) => ({ ...grant, previousEnd: 'RELEASED' })); // of who comes next
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
  }

  private onLost(kept: Kept, reason: string): void {
    const users = [...kept.users];
    this.forget(kept);
    users.forEach((use) => {
      use.onLost(reason);
    });
    this.sendOn(kept);
  }

  // Users, one after the other.

  private begin(kept: Kept, use: Use): Use {
    const [outer] = kept.users;
    use.kept = kept;
    use.grants = outer === undefined ? kept.grants : outer.grants.map((grant) => ({ ...grant, holdCount: kept.users.size + 1 }));
    use.state = 'held';
    kept.users.add(use);
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
    if (now() >= kept.handedOnUntil) {
      this.sendOn(kept); // the timer may be late
    }
    const [next] = kept.waiting;
    if (!this.lease.isValid(kept) || (next === undefined && (kept.isWanted || this.unused >= MOST_UNUSED))) {
      use.state = 'releasing';
      kept.last = use;
      this.letGo(kept);
      return;
    }
    use.finish(RELEASED);
    if (next === undefined) {
      this.shelve(kept, use.request.options.keepUnused);
    } else {
      this.handOn(kept, next);
    }
  }

  private handOn(kept: Kept, next: Use): void {
    this.unqueue(next);
    this.begin(kept, next);
    if (next.owner !== '' && !next.request.takesPermits) {
      for (const level of [...kept.waiting].filter((other) => other.owner === next.owner)) {
        this.unqueue(level);
        this.begin(kept, level);
      }
    }
  }

  private wait(kept: Kept, use: Use): void {
    if (use.request.options.wait === 0) {
      throw new NotAcquiredError(`${String(use.request)}: somebody in this client uses it`, 'TIMED_OUT');
    }
    use.kept = kept;
    kept.waiting.add(use);
    this.waiting++;
    this.timers.set(use.place, use.giveUp - now(), () => {
      this.unqueue(use);
      use.fail(new NotAcquiredError(`${String(use.request)}: the wait limit ran out`, 'TIMED_OUT'));
    });
  }

  private unqueue(use: Use): void {
    use.kept.waiting.delete(use);
    this.waiting--;
    this.timers.stop(use.place);
  }

  private askServer(use: Use): void {
    use.kept = new Kept(this.nextId(), use, this);
    this.lease.acquire(use.kept);
  }

  /** Those who wait for it in the client ask a server. */
  private sendOn(kept: Kept): void {
    for (const use of [...kept.waiting]) {
      this.unqueue(use);
      this.askServer(use);
    }
  }

  // What is kept, and until when.

  private shelfOf(kept: Kept): Shelf {
    let shelf = this.shelves.get(kept.likeness);
    if (shelf === undefined) {
      shelf = { unused: [], used: undefined };
      this.shelves.set(kept.likeness, shelf);
    }
    return shelf;
  }

  private shelve(kept: Kept, keepUnused = kept.keepUnused): void {
    const shelf = this.shelfOf(kept);
    if (shelf.used === kept) {
      shelf.used = undefined;
    }
    shelf.unused.push(kept);
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
    kept.handedOnUntil = now() + HANDED_ON;
    if (kept.users.size === 0) {
      this.letGo(kept);
      return;
    }
    this.unshelve(kept);
    this.timers.set(kept.id, kept.waiting.size > 0 ? HANDED_ON : Infinity, () => {
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
    const shelf = this.shelfOf(kept);
    if (shelf.used === kept) {
      shelf.used = undefined;
    }
    const at = shelf.unused.indexOf(kept);
    if (at >= 0) {
      shelf.unused.splice(at, 1);
      this.unused--;
    }
    if (shelf.used === undefined && shelf.unused.length === 0) {
      this.shelves.delete(kept.likeness);
    }
  }

  // Owners: for servers, locks that are kept have none.

  /** What its owner uses and may use once more. */
  private outerOf(request: Request): Kept | undefined {
    const { owner = '', maxHold } = request.options;
    const used = owner === '' ? undefined : this.owners.get(owner);
    if (used === undefined) {
      return undefined;
    }
    const held = [...used].filter((kept) => this.lease.isValid(kept));
    const alike = held.find((kept) => kept.likeness === request.likeness);
    if (alike !== undefined && maxHold === undefined && !request.takesPermits) {
      return alike;
    }
    if (held.some((kept) => request.excludes(kept.request))) {
      throw wouldWaitForItself(request, owner);
    }
    return undefined;
  }

  /** What is to be kept asks a server without its owner, and so would wait for what that holds by a request of its own. */
  private refuseWaitForOwner(request: Request): void {
    const { owner = '' } = request.options;
    const isHeldAgainst = (other: Acquisition): boolean => other.state === 'held' && other.request.options.owner === owner && request.excludes(other.request);
    if (owner !== '' && [...this.lease.acquisitions.values()].some(isHeldAgainst)) {
      throw wouldWaitForItself(request, owner);
    }
  }

  private disown(kept: Kept, use: Use): void {
    const used = this.owners.get(use.owner);
    used?.delete(kept);
    if (used?.size === 0) {
      this.owners.delete(use.owner);
    }
  }
}

function wouldWaitForItself(request: Request, owner: string): NotAcquiredError {
  return new NotAcquiredError(
    `${String(request)}: the owner ${JSON.stringify(owner)} holds one of these by another request, and would wait for itself`,
    'WOULD_DEADLOCK',
  );
}
