// One lock.

import { askToRelease, forceRelease, freeze, unfreeze } from "./actions.js";
import { ApiError, get, inPath, post } from "./api.js";
import { Chart } from "./chart.js";
import { live, lockState } from "./live.js";
import { AskingView, Badge, Failed, holdersInWords, html, LeaseLink, Metadata, Table } from "./parts.js";
import { count, endOf, modeOf, number, plain, seconds, since, span, until, who } from "./text.js";

const QUEUE_SHOWN = 100;
const MAX_POINTS = 1_800;

/** Says in words how the lock is. */
function inWords(lock) {
  const sentences = [];
  if (lock.holders.length === 0) {
    sentences.push(lock.waiting > 0 ? "Nobody holds it." : "It is free.");
  } else {
    const [{ heldAt, atLeast }] = lock.holders;
    sentences.push(`Held by ${holdersInWords(lock.holders)}${heldAt ? ` for ${since(heldAt, atLeast)}` : ""}.`);
  }
  if (lock.waiting > 0) {
    const first = lock.queue[0]?.queuedAt;
    sentences.push(`${count(lock.waiting, "waits", "wait")}${first ? `, the first for ${since(first, lock.queue[0].atLeast)}` : ""}.`);
  }
  if (lock.delayedUntil > Date.now()) {
    sentences.push(`The holder before was lost: the next grant is in ${span((lock.delayedUntil - Date.now()) / 1000)}.`);
  }
  if (lock.limit > 0) sentences.push(`Its limit is set to ${count(lock.limit, "permit", "permits")}.`);
  return sentences.join(" ");
}

/** Says in words what froze the lock. */
export function frozenInWords(frozen) {
  return [
    `Frozen by ${plain(frozen.frozenBy)} for ${since(frozen.frozenAt)}`,
    frozen.reason && `: ${plain(frozen.reason)}`,
    `. ${frozen.thawsAt ? `Thaws in ${until(frozen.thawsAt)}.` : "Until it is unfrozen."}`,
  ].join("");
}

function wait(past) {
  const { queuedFor, heldFor } = past.holder ?? {};
  return queuedFor === undefined || heldFor === undefined ? undefined : seconds(queuedFor) - seconds(heldFor);
}

const HISTORY = [
  ["Who", (past) => who(past.holder ?? {})],
  ["How it ended", (past) => html`<${Badge} kind=${past.end === "PREVIOUS_END_RELEASED" ? "good" : "plain"}>${endOf(past)}</${Badge}>`],
  ["Held for", (past) => span(seconds(past.holder?.heldFor)), "figure"],
  ["Had waited", (past) => span(wait(past)), "figure"],
  ["Ended", (past) => `${span(Math.floor(seconds(past.endedAgo) ?? 0))} ago`, "figure"],
  ["Token", (past) => past.holder?.fencingToken ?? "", "figure"],
  ["Mode", (past) => modeOf(past.holder)],
  ["Says", (past) => html`<${Metadata} of=${past.holder?.metadata} />`],
];

const QUEUE = [
  ["Place", (waiter, i) => number(i + 1), "figure"],
  ["Who", who],
  ["Waiting for", (waiter) => since(waiter.queuedAt, waiter.atLeast), "figure"],
  ["Wants", modeOf],
  ["Owner", (waiter) => plain(waiter.owner)],
  ["Lease", (waiter) => html`<${LeaseLink} lease=${waiter.lease} />`],
  ["Says", (waiter) => html`<${Metadata} of=${waiter.metadata} />`],
];

/** One lock: who holds it, who waits, who held it, and what may be done about it. */
export class Lock extends AskingView {
  everyMillis = 2_000;
  at = [];
  lengths = [];

  async ask(signal) {
    const { name } = this.props;
    const version = live.locks.get(name)?.version;
    const [lock, history, caller] = await Promise.all([
      get(`/v1/locks/${inPath(name)}?queueLimit=${QUEUE_SHOWN}`, signal),
      get(`/v1/history/${inPath(name)}?limit=20`, signal).catch(withoutIt),
      this.caller ?? post("/v1/who-am-i", { name }, signal).catch(withoutIt),
    ]);
    this.caller = caller;
    const state = lockState({ name, ...lock.lock });
    this.measure(state.waiting);
    live.learned(state, version);
    return { lock: state, history };
  }

  /** Asks as soon as the stream of changes says that there is something new. */
  componentDidUpdate() {
    const version = live.locks.get(this.props.name)?.version ?? -1;
    if (version !== this.version) {
      this.version = version;
      this.askNow();
    }
  }

  measure(length) {
    this.at.push(Date.now() / 1000);
    this.lengths.push(length);
    if (this.at.length > MAX_POINTS) [this.at, this.lengths].forEach((values) => values.shift());
  }

  may(right) {
    return this.caller === undefined || (this.caller.rights ?? []).includes(right);
  }

  buttons(lock) {
    const after = () => this.askNow();
    const isHeld = lock.holders.length > 0;
    return html`<div class="buttons">
      ${isHeld && this.may("request-release") && html`<button type="button" onClick=${() => askToRelease(lock, after)}>Ask to release…</button>`}
      ${isHeld && this.may("release-others") && html`<button type="button" class="danger"
        onClick=${() => forceRelease(lock, lock.holders, after)}>Force release…</button>`}
      ${this.may("admin") && (lock.frozen
        ? html`<button type="button" onClick=${() => unfreeze(lock.frozen, after)}>Unfreeze…</button>`
        : html`<button type="button" onClick=${() => freeze(lock.name, after)}>Freeze…</button>`)}
    </div>`;
  }

  holders(lock) {
    const columns = [
      ["Who", who],
      ["Held for", (holder) => since(holder.heldAt, holder.atLeast), "figure"],
      ["Had waited", (holder) => holder.queuedAt && holder.heldAt && span((holder.heldAt - holder.queuedAt) / 1000), "figure"],
      ["Token", (holder) => holder.token, "figure"],
      ["Mode", modeOf],
      ["Owner", (holder) => plain(holder.owner)],
      ["Lease", (holder) => html`<${LeaseLink} lease=${holder.lease} />`],
      ["Says", (holder) => html`<${Metadata} of=${holder.metadata} />`],
    ];
    if (lock.holders.some((holder) => holder.releaseAt)) {
      columns.push(["Needs it for", (holder) => until(holder.releaseAt), "figure"]);
    }
    if (lock.holders.length > 1 && this.may("release-others")) {
      columns.push(["Take away", (holder) => html`<button type="button" class="danger small"
        aria-label=${`Force release of ${who(holder)}`} onClick=${() => forceRelease(lock, [holder], () => this.askNow())}>Force release…</button>`]);
    }
    return html`<${Table} label="Holders" columns=${columns} rows=${lock.holders} keyOf=${(holder) => holder.entry} none="Nobody holds it." />`;
  }

  render({ name }, { answer, error }) {
    const lock = answer?.lock;
    return html`<p class="trail"><a href="#/locks">Locks</a></p>
      <h1 tabindex="-1" class="name">${plain(name)}</h1>
      <${Failed} error=${error} />
      ${!answer && !error && html`<p class="soft">Loading…</p>`}
      ${answer && html`
        <p class="state">${inWords(lock)}</p>
        ${lock.frozen && html`<p class="note cold">${frozenInWords(lock.frozen)}</p>`}
        ${this.buttons(lock)}
        <section><h2>Holders</h2>${this.holders(lock)}</section>
        <section><h2>Queue</h2>
          <${Table} label="Queue" columns=${QUEUE} rows=${lock.queue} keyOf=${(waiter) => waiter.entry} none="Nobody waits." />
          ${lock.waiting > lock.queue.length && html`<p class="soft">and ${number(lock.waiting - lock.queue.length)} more</p>`}
          <${Chart} title="Waiting" at=${this.at} values=${this.lengths} steps=${true} />
        </section>
        ${this.history(answer.history)}`}`;
  }

  history(history) {
    if (!history) return "";
    const remembered = span(Math.floor(seconds(history.recordedFor) ?? 0));
    return html`<section><h2>History</h2>
      <${Table} label="History" columns=${HISTORY} rows=${history.holds ?? []}
        keyOf=${(past, i) => `${past.holder?.entry} ${past.holder?.fencingToken} ${i}`} none="No hold has ended." />
      <p class="soft">As coordinator ${plain(history.coordinatorId)} has seen it in the last ${remembered}, 20 holds at most.</p>
    </section>`;
  }
}

/** What a server does not offer is left out. */
function withoutIt(error) {
  if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return undefined;
  throw error;
}
