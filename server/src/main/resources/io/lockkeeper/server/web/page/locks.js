// All locks in use.

import { announce } from "./actions.js";
import { get, inPath } from "./api.js";
import { live, lockState } from "./live.js";
import { Badge, Component, Figures, holdersInWords, html, LockLink } from "./parts.js";
import { LongTable } from "./rows.js";
import { count, modeOf, number, plain, since } from "./text.js";

const FILTER_MILLIS = 150;
const ANNOUNCE_MILLIS = 1_200;
const STEADY_MILLIS = 4_000;
const ASK_AGAIN_MILLIS = 1_500;

/** Compares two locks upwards; each order ends with the name, so that equals keep their places. */
const ORDERS = {
  name: () => 0,
  held: (a, b) => heldAt(b) - heldAt(a),
  waiting: (a, b) => a.waiting - b.waiting,
};

function heldAt(lock) {
  return lock.holders[0]?.heldAt ?? Infinity;
}

function heldFor(lock) {
  const [holder] = lock.holders;
  if (holder) return since(holder.heldAt, holder.atLeast);
  return lock.frozen ? "" : html`<span class="soft">not held</span>`;
}

function oldestWait(lock) {
  if (lock.waiting === 0) return "";
  return lock.oldestAt === undefined ? html`<span class="soft">…</span>` : since(lock.oldestAt, lock.oldestAtLeast);
}

const COLUMNS = [
  { id: "name", heading: "Lock", sortable: true, kind: "name", cell: (lock) => html`<${LockLink} name=${lock.name} />` },
  { id: "waiting", heading: "Waiting", sortable: true, kind: "figure", cell: (lock) => (lock.waiting ? number(lock.waiting) : "") },
  {
    id: "oldest", heading: "Oldest wait", kind: "figure", cell: oldestWait,
    title: "The locks are not sorted by it: the list tells how many wait, and since when is asked only of the rows that can be seen",
  },
  {
    id: "holders", heading: "Held by", kind: "holders",
    cell: (lock) => html`<span title=${holdersInWords(lock.holders)}>${holdersInWords(lock.holders)}</span>`,
  },
  { id: "held", heading: "Held for", sortable: true, kind: "figure", cell: heldFor },
  { id: "token", heading: "Token", kind: "figure", cell: (lock) => lock.holders[0]?.token ?? "" },
  { id: "mode", heading: "Mode", cell: (lock) => modeOf(lock.holders[0]) },
  { id: "state", heading: "State", cell: (lock) => lock.frozen && html`<${Badge} kind="cold">frozen</${Badge}>` },
];

/** The locks: filtered by how their names begin, the longest queue first. */
export class Locks extends Component {
  state = { typed: "", prefix: "", by: "waiting", descending: true };

  componentDidMount() {
    live.watch(this.props.only);
    this.asked = new Map();
    this.gone = new AbortController();
  }

  componentDidUpdate() {
    live.watch(this.props.only);
  }

  componentWillUnmount() {
    clearTimeout(this.filtering);
    clearTimeout(this.announcing);
    this.gone.abort();
  }

  typed = (event) => {
    const typed = event.target.value;
    this.setState({ typed });
    clearTimeout(this.filtering);
    clearTimeout(this.announcing);
    this.filtering = setTimeout(() => this.setState({ prefix: typed }, this.toTop), FILTER_MILLIS);
    this.announcing = setTimeout(
      () => announce(`${count(this.rows.length, "lock", "locks")} shown`), ANNOUNCE_MILLIS);
  };

  sort = (by) => {
    this.order = undefined;
    const descending = this.state.by === by ? !this.state.descending : by !== "name";
    this.setState({ by, descending }, this.toTop);
  };

  toTop = () => {
    this.table.querySelector(".long").scrollTop = 0;
  };

  /** Rows do not change places under the pointer or the focus. */
  get steady() {
    const focused = this.table?.contains(document.activeElement) && document.activeElement.tagName === "A";
    return focused || Date.now() - (this.pointedAt ?? 0) < STEADY_MILLIS;
  }

  sorted() {
    const { prefix, by, descending } = this.state;
    const key = `${live.version} ${prefix} ${by} ${descending} ${this.steady}`;
    if (key === this.sortedFor) return this.rows;
    this.sortedFor = key;
    const rows = [];
    for (const lock of live.locks.values()) if (lock.name.startsWith(prefix)) rows.push(lock);
    const sign = descending ? -1 : 1;
    const nameSign = by === "name" ? sign : 1;
    const compare = ORDERS[by];
    const anew = (a, b) => sign * compare(a, b) || nameSign * (a.name < b.name ? -1 : 1);
    if (this.steady && this.order) {
      const places = this.order;
      rows.sort((a, b) => (places.get(a.name) ?? Infinity) - (places.get(b.name) ?? Infinity) || anew(a, b));
    } else {
      rows.sort(anew);
    }
    this.order = new Map(rows.map((lock, i) => [lock.name, i]));
    this.rows = rows;
    return rows;
  }

  /** The stream does not tell how long the first has waited: that is asked, of what can be seen. */
  seen = async (rows) => {
    if (this.seeing || live.connection.state !== "live") return;
    this.seeing = true;
    try {
      const now = Date.now();
      for (const [name, at] of this.asked) if (now - at > ASK_AGAIN_MILLIS) this.asked.delete(name);
      for (const lock of rows.filter((row) => !row.oldestKnown && !this.asked.has(row.name))) {
        this.asked.set(lock.name, Date.now());
        const { version } = lock;
        const answer = await get(`/v1/locks/${inPath(lock.name)}?queueLimit=1`, this.gone.signal);
        live.learned(lockState({ name: lock.name, ...answer.lock }), version);
      }
    } catch {
      // It stays unknown until it is asked for again.
    } finally {
      this.seeing = false;
    }
  };

  render({ only }, { typed, prefix, by, descending }) {
    const rows = this.sorted();
    const { totals } = live;
    return html`<div class="tall">
      <h1 tabindex="-1">Locks</h1>
      <${Figures} of=${[
        ["in use", number(totals.locks)], ["held", number(totals.held)], ["waiting", number(totals.waiting)],
        ["frozen", number(totals.frozen), totals.frozen > 0 ? "cold" : ""]]} />
      <form class="filter" role="search" onSubmit=${(event) => event.preventDefault()}>
        <label for="filter">Names that begin with</label>
        <input id="filter" type="search" value=${typed} onInput=${this.typed} autocomplete="off" spellcheck=${false}
          aria-describedby="filter-key" />
        <kbd id="filter-key" title="puts the cursor here" aria-label="The key / puts the cursor here">/</kbd>
        ${only
          ? html`<span>of those that begin with <b class="name">${plain(only)}</b> <a href="#/locks">load all</a></span>`
          : prefix && html`<a href=${`#/locks?only=${encodeURIComponent(prefix)}`}>load only these</a>`}
      </form>
      <div class="tablebox" ref=${(table) => { this.table = table; }} onPointerMove=${() => { this.pointedAt = Date.now(); }}>
        <${LongTable} key=${only} label="Locks" columns=${COLUMNS} rows=${rows} keyOf=${(lock) => lock.name}
          sort=${{ by, descending }} onSort=${this.sort} onVisible=${this.seen} />
      </div>
      <p class="soft under">${rows.length === 0 ? this.nothing(prefix || only)
        : `${number(rows.length)} of ${count(totals.locks, "lock", "locks")}`}</p>
    </div>`;
  }

  nothing(prefix) {
    if (live.connection.state === "connecting") return "Loading…";
    return prefix ? "No lock in use has such a name." : "No lock is in use.";
  }
}
