// What the views are made of.

import { Component, h } from "./lib/preact.js";
import htm from "./lib/htm.js";
import { plain, who } from "./text.js";

export const html = htm.bind(h);
export { Component };

/**
 * A view that asks for something every few seconds, by its ask(signal), and keeps the last answer in state.answer.
 * What goes wrong is in state.error, until an answer comes.
 */
export class AskingView extends Component {
  everyMillis = 3_000;

  componentDidMount() {
    this.gone = new AbortController();
    this.timer = setInterval(() => document.hidden || this.askNow(), this.everyMillis);
    this.askNow();
  }

  componentWillUnmount() {
    clearInterval(this.timer);
    this.gone.abort();
  }

  /** Asks at once, and once more if it was asked meanwhile. */
  async askNow() {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    try {
      const answer = await this.ask(this.gone.signal);
      this.setState({ answer, error: "" });
    } catch (e) {
      if (!this.gone.signal.aborted) this.setState({ error: e.message });
    } finally {
      this.asking = false;
    }
    if (this.again && !this.gone.signal.aborted) {
      this.again = false;
      this.askNow();
    }
  }
}

/** Says what went wrong, beside what is on the screen. */
export function Failed({ error }) {
  return error && html`<p class="note bad" role="alert">${plain(error)}</p>`;
}

/** A word with a colour; the word says it all. */
export function Badge({ kind, children }) {
  return html`<span class=${`badge ${kind}`}>${children}</span>`;
}

/** Returns the address of a lock's view. */
export function lockHref(name) {
  return `#/locks/${encodeURIComponent(name)}`;
}

/** A link to a lock. */
export function LockLink({ name }) {
  return html`<a href=${lockHref(name)} title=${plain(name)}>${plain(name)}</a>`;
}

/** A link to a lease by its tag; an entry of a client that is not Lockkeeper's has none. */
export function LeaseLink({ lease }) {
  return lease ? html`<a class="code" href=${`#/leases/${lease}`}>${lease}</a>` : html`<span class="soft">none</span>`;
}

/** What a contender says of itself. */
export function Metadata({ of }) {
  const entries = Object.entries(of ?? {});
  return entries.length === 0
    ? html`<span class="soft">nothing</span>`
    : html`<dl class="metadata">${entries.map(([key, value]) =>
      html`<div key=${key}><dt>${plain(key)}</dt><dd>${plain(value)}</dd></div>`)}</dl>`;
}

/** The names of holders in one line. */
export function holdersInWords(holders) {
  const names = holders.slice(0, 3).map(who);
  return names.join(", ") + (holders.length > 3 ? ` and ${holders.length - 3} more` : "");
}

/** A few numbers with what they count. */
export function Figures({ of }) {
  return html`<dl class="figures">${of.map(([label, value, kind]) =>
    html`<div key=${label} class=${kind ?? ""}><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/**
 * A table of moderate length, which scrolls inside itself where it is too wide. Columns are [heading, cell(row), class].
 * Of no rows, it says so in the words of "none".
 */
export function Table({ label, columns, rows, keyOf, none }) {
  if (rows.length === 0) return html`<p class="soft">${none}</p>`;
  return html`<div class="scroll" role="region" aria-label=${label} tabindex="0">
    <table>
      <thead><tr>${columns.map(([heading, , kind]) => html`<th scope="col" class=${kind ?? ""}>${heading}</th>`)}</tr></thead>
      <tbody>${rows.map((row, i) => html`<tr key=${keyOf(row, i)}>${columns.map(([, cell, kind]) =>
        html`<td class=${kind ?? ""}>${cell(row, i)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}
