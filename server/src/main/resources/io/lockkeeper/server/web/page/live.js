// What is known of all locks, kept up to date by one stream of changes, of the coordinator, asked for every few seconds,
// and of the cluster, asked for where it is needed.

import { get, post } from "./api.js";
import { ago, seconds } from "./text.js";

const RENDER_MILLIS = 400;
const POLL_MILLIS = 4_000;
const SILENCE_MILLIS = 25_000;
const MAX_RETRY_MILLIS = 10_000;
const HIDDEN_MILLIS = 30_000;
const MAX_SAMPLES = 900;

/** Returns a contender with moments of this browser's clock in place of durations. */
export function contender(json) {
  return {
    ...json,
    lease: json.leaseTag ?? "",
    token: json.fencingToken ?? "",
    metadata: json.metadata ?? {},
    queuedAt: ago(json.queuedFor),
    heldAt: ago(json.heldFor),
    releaseAt: json.releaseIn === undefined ? undefined : Date.now() + seconds(json.releaseIn) * 1000,
  };
}

/** Returns a freeze with moments in place of durations. */
function freeze(json) {
  return json && {
    ...json,
    prefix: json.prefix ?? "",
    frozenAt: ago(json.frozenFor ?? "0s"),
    thawsAt: json.thawsIn === undefined ? undefined : Date.now() + seconds(json.thawsIn) * 1000,
  };
}

/** Returns the cluster's state with moments in place of durations. */
function clusterState(json) {
  return {
    ...json,
    coordinators: (json.coordinators ?? []).map((one) => ({ ...one, knownSince: ago(one.knownFor ?? "0s") })),
    sessions: json.sessions ?? [],
    frozen: (json.frozen ?? []).map(freeze),
  };
}

/** Returns a lock's state with moments in place of durations. */
export function lockState(json) {
  return {
    name: json.name,
    holders: (json.holders ?? []).map(contender),
    waiting: json.queueLength ?? 0,
    queue: (json.queue ?? []).map(contender),
    limit: json.configuredLimit ?? 0,
    delayedUntil: json.delayedFor === undefined ? undefined : Date.now() + seconds(json.delayedFor) * 1000,
    frozen: freeze(json.frozen),
    oldestAt: undefined,
    oldestKnown: !json.queueLength,
    version: 0,
  };
}

/** The locks in use and the coordinator's state, and who is told when they change. */
class Live {
  locks = new Map();
  /** Rises with every change of the locks. */
  version = 0;
  prefix = "";
  connection = { state: "connecting", since: Date.now(), error: "" };
  /** Of the coordinator; each undefined as long as it is not known. */
  readiness = undefined;
  caller = undefined;
  /** As it was when it was last asked for; undefined to whoever may not see it. */
  cluster = undefined;
  clusterError = "";
  samples = { at: [], grants: [], waiting: [], held: [] };

  #listeners = new Set();
  #incoming = undefined;
  #source = undefined;
  #lastHeard = Date.now();
  #retryMillis = 500;
  #timer = undefined;
  #hiding = undefined;
  #questions = 0;
  #grants = 0;
  #totalsOf = -1;
  #totals = undefined;

  /** Begins. */
  start() {
    if (!document.hidden) this.#connect();
    this.refresh();
    setInterval(() => document.hidden || this.refresh(), POLL_MILLIS);
    setInterval(() => this.#tick(), 1000);
    addEventListener("visibilitychange", () => this.#shownOrHidden());
  }

  /** Calls back soon after each change, and each second, since ages change. Returns what ends that. */
  listen(callback) {
    this.#listeners.add(callback);
    return () => this.#listeners.delete(callback);
  }

  /** Says that something has changed; listeners hear of many changes at once. */
  changed() {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (!document.hidden) this.#listeners.forEach((callback) => callback());
    }, RENDER_MILLIS);
  }

  /** Watches only the locks whose names begin with this, from now on. */
  watch(prefix) {
    if (prefix === this.prefix) return;
    this.prefix = prefix;
    this.locks = new Map();
    this.#became("connecting");
    if (this.#source) this.#connect();
  }

  /** How many locks are in use, held and frozen, and how many wait. */
  get totals() {
    if (this.#totalsOf !== this.version) {
      const totals = { locks: this.locks.size, held: 0, waiting: 0, frozen: 0 };
      for (const lock of this.locks.values()) {
        if (lock.holders.length > 0) totals.held++;
        if (lock.frozen) totals.frozen++;
        totals.waiting += lock.waiting;
      }
      this.#totals = totals;
      this.#totalsOf = this.version;
    }
    return this.#totals;
  }

  /** Returns whether the caller has a right on all locks, as far as that is known. */
  may(right) {
    return this.caller === undefined || (this.caller.rights ?? []).includes(right);
  }

  /** Asks anew for the state of the coordinator, and, as soon as it is known who asks, for that of the cluster. */
  async refresh() {
    const [readiness, caller] = await Promise.allSettled([get("/readyz"), post("/v1/who-am-i", {})]);
    const before = this.caller;
    this.readiness = readiness.value;
    this.caller = caller.value;
    this.changed();
    if (!before) await this.refreshCluster();
  }

  /** Asks anew for the state of the cluster, if the caller may see it. Whoever asks is written to the audit. */
  async refreshCluster() {
    if (!this.caller || !this.may("admin")) return;
    const question = ++this.#questions;
    const [{ value, reason }] = await Promise.allSettled([get("/v1/cluster")]);
    // The answer to a later question counts, whichever comes first.
    if (question !== this.#questions) return;
    this.clusterError = reason?.message ?? "";
    if (value) {
      this.cluster = clusterState(value);
      this.#refreeze();
    }
    this.changed();
  }

  /** Takes from an answer about one lock what the stream does not tell: since when the first waits, and whether it is frozen. */
  learned(state, version) {
    const lock = this.locks.get(state.name);
    if (!lock) return;
    const [first] = state.queue;
    lock.oldestAt = first?.queuedAt;
    lock.oldestAtLeast = first?.atLeast;
    lock.oldestKnown = version === lock.version;
    if (Boolean(lock.frozen) !== Boolean(state.frozen)) this.version++;
    lock.frozen = state.frozen;
  }

  #became(state, error = "") {
    if (this.connection.state !== state) this.connection = { state, since: Date.now(), error };
    else if (error) this.connection.error = error;
    this.changed();
  }

  /** A browser has few connections to a host, and the stream takes one of them: a page that nobody sees leaves it to others. */
  #shownOrHidden() {
    clearTimeout(this.#hiding);
    if (document.hidden) {
      this.#hiding = setTimeout(() => this.#disconnect(), HIDDEN_MILLIS);
      return;
    }
    if (!this.#source) {
      this.#connect();
      this.refreshCluster();
    }
    this.refresh();
    this.changed();
  }

  #disconnect() {
    this.#source?.close();
    this.#source = undefined;
    if (this.connection.state === "live") this.#became("resuming");
  }

  #connect() {
    this.#source?.close();
    const source = new EventSource(`/v1/watch?prefix=${encodeURIComponent(this.prefix)}`);
    this.#source = source;
    this.#incoming = undefined;
    this.#lastHeard = Date.now();
    let whole = false;
    source.onopen = () => {
      this.#incoming = undefined;
      this.#lastHeard = Date.now();
      // Where it goes on, and nothing was missed, nothing comes that would say so.
      if (whole) this.#isLive();
    };
    source.onmessage = (event) => {
      const response = JSON.parse(event.data);
      this.#lastHeard = Date.now();
      whole ||= response.snapshotEnd !== undefined;
      this.#take(response);
    };
    source.onerror = (event) => {
      if (source === this.#source) this.#broke(source, event.data);
    };
  }

  /** The browser comes back by itself, except where it was refused. */
  async #broke(source, data) {
    const refusal = data ? JSON.parse(data) : undefined;
    this.#became("lost", (refusal?.error ?? refusal)?.message ?? "");
    if (source.readyState !== EventSource.CLOSED) return;
    const wait = this.#retryMillis;
    this.#retryMillis = Math.min(MAX_RETRY_MILLIS, wait * 2);
    setTimeout(() => source === this.#source && this.#connect(), wait);
    try {
      await get("/v1/locks?pageSize=1");
    } catch (e) {
      this.#became("lost", e.message);
    }
  }

  #take(response) {
    if (response.snapshot) {
      this.#incoming ??= new Map();
      const lock = lockState(response.snapshot);
      this.#incoming.set(lock.name, lock);
      // The first snapshot is shown while it comes; a later one takes the place of what is shown.
      if (this.connection.state === "connecting") {
        this.locks = this.#incoming;
        this.version++;
        this.changed();
      }
    } else if (response.snapshotEnd) {
      this.locks = this.#incoming ?? new Map();
      this.#incoming = undefined;
      this.#isLive();
    } else if (response.change) {
      this.#apply(response.change);
      this.#isLive();
    } else if (response.gap) {
      this.#incoming = undefined;
    }
  }

  #isLive() {
    this.#retryMillis = 500;
    this.version++;
    this.#became("live");
  }

  #apply(change) {
    const before = this.locks.get(change.name);
    const holders = (change.holders ?? []).map(contender);
    const waiting = change.queueLength ?? 0;
    this.#grants += grantsOf(change, before?.holders ?? [], holders);
    if (holders.length === 0 && waiting === 0) {
      this.locks.delete(change.name);
      return;
    }
    const lock = before ?? { ...lockState({ name: change.name }), frozen: this.#freezeOf(change.name) };
    lock.holders = holders;
    lock.waiting = waiting;
    lock.version++;
    if (waiting === 0) {
      lock.oldestAt = undefined;
      lock.oldestKnown = true;
    } else if (waiting === 1 && change.cause === "CHANGE_CAUSE_QUEUED") {
      lock.oldestAt = ago(change.contender?.queuedFor);
      lock.oldestKnown = true;
    } else if (change.cause !== "CHANGE_CAUSE_QUEUED") {
      lock.oldestKnown = false;
    }
    // A grant of a lock that is said to be frozen: perhaps it no longer is.
    if (lock.frozen && change.cause === "CHANGE_CAUSE_GRANTED") lock.oldestKnown = false;
    this.locks.set(change.name, lock);
  }

  /** Changes of locks do not tell of freezes: the cluster does, to whoever may see it. */
  #refreeze() {
    for (const locks of [this.locks, this.#incoming ?? new Map()]) {
      for (const lock of locks.values()) lock.frozen = this.#freezeOf(lock.name);
    }
    this.version++;
  }

  #freezeOf(name) {
    let longest;
    for (const frozen of this.cluster?.frozen ?? []) {
      const covers = name.startsWith(frozen.prefix) && !isOver(frozen);
      if (covers && (!longest || frozen.prefix.length > longest.prefix.length)) longest = frozen;
    }
    return longest;
  }

  /** A freeze that ends by itself ends without a change of the locks. */
  #thaw() {
    for (const lock of this.locks.values()) {
      if (!lock.frozen || !isOver(lock.frozen)) continue;
      lock.frozen = this.#freezeOf(lock.name);
      this.version++;
    }
  }

  #tick() {
    if (this.connection.state === "live") {
      this.#sample(this.#grants, this.totals.waiting, this.totals.held);
      // A heartbeat is no event: silence is found out about by asking.
      if (Date.now() - this.#lastHeard > SILENCE_MILLIS) this.#probe();
    } else if (typeof this.samples.grants.at(-1) === "number") {
      // No line leads over a time of which nothing is known.
      this.#sample(null, null, null);
    }
    this.#grants = 0;
    this.#thaw();
    this.changed();
  }

  #sample(...values) {
    const { at, grants, waiting, held } = this.samples;
    at.push(Date.now() / 1000);
    [grants, waiting, held].forEach((list, i) => list.push(values[i]));
    if (at.length > MAX_SAMPLES) [at, grants, waiting, held].forEach((list) => list.shift());
  }

  async #probe() {
    this.#lastHeard = Date.now();
    const source = this.#source;
    try {
      await get("/readyz");
    } catch (e) {
      if (source !== this.#source) return;
      this.#became("lost", e.message);
      this.#connect();
    }
  }
}

function isOver(frozen) {
  return frozen.thawsAt <= Date.now();
}

/** Of several changes that came as one, only those grants count that are there to be seen. */
function grantsOf(change, before, after) {
  const held = new Set(before.map((holder) => holder.entry));
  const seen = after.filter((holder) => !held.has(holder.entry)).length;
  return Math.max(seen, change.cause === "CHANGE_CAUSE_GRANTED" ? 1 : 0);
}

export const live = new Live();
