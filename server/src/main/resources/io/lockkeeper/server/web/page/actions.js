// What an operator may do, each after a question that names the lock and the holder.

import { post } from "./api.js";
import { live } from "./live.js";
import { Component, Failed, html } from "./parts.js";
import { count, plain, who } from "./text.js";

const LONGEST_REASON = 300;

let show = () => {};
let say = () => {};

/** Tells those who listen to the page, politely. */
export function announce(text) {
  say(text);
}

/** What screen readers are told. Stands in the document once. */
export class Announcer extends Component {
  state = { text: "" };

  componentDidMount() {
    say = (text) => this.setState({ text });
  }

  render(props, { text }) {
    return html`<p class="unseen" role="status">${text}</p>`;
  }
}

/** The question that is being asked, if any. Stands in the document once. */
export class Question extends Component {
  state = { asked: undefined, error: "", busy: false };

  componentDidMount() {
    show = (asked) => this.setState({ asked, error: "", busy: false }, () => {
      this.form.reset();
      this.dialog.showModal();
    });
  }

  closed = () => this.setState({ asked: undefined });

  async answered(event) {
    event.preventDefault();
    if (this.state.busy) return;
    const { asked } = this.state;
    this.setState({ busy: true, error: "" });
    try {
      const done = await asked.run(new FormData(this.form));
      this.dialog.close();
      announce(done);
      live.refreshCluster();
      asked.after?.();
    } catch (e) {
      this.setState({ error: e.message });
    } finally {
      this.setState({ busy: false });
    }
  }

  render(props, { asked, error, busy }) {
    return html`<dialog ref=${(dialog) => { this.dialog = dialog; }} aria-labelledby="question-title" onClose=${this.closed}>
      <form ref=${(form) => { this.form = form; }} onSubmit=${(event) => this.answered(event)}>
        <h2 id="question-title">${asked?.title}</h2>
        ${asked?.about}
        ${asked?.fields}
        ${asked?.reasonIsFor && html`<label>Reason <span class="soft">(${asked.reasonIsFor})</span>
          <textarea name="reason" rows="2" maxlength=${LONGEST_REASON} required></textarea></label>`}
        <${Failed} error=${error} />
        <div class="buttons">
          <button type="button" onClick=${() => this.dialog.close()}>Cancel</button>
          <button type="submit" class=${asked?.danger ? "danger" : "primary"} disabled=${busy}>${asked?.yes}</button>
        </div>
      </form>
    </dialog>`;
  }
}

function holdersOf(holders) {
  return html`<ul>${holders.slice(0, 10).map((holder) => html`<li key=${holder.entry}><b>${who(holder)}</b>${
    holder.token && ` with token ${holder.token}`}</li>`)}${
    holders.length > 10 && html`<li>and ${holders.length - 10} more</li>`}</ul>`;
}

/** Asks the holders of a lock to give way. */
export function askToRelease(lock, after) {
  show({
    title: "Ask to release",
    about: html`<p>Those who hold <b class="name">${plain(lock.name)}</b> are asked to give way. Nothing is taken away.</p>
      ${holdersOf(lock.holders)}`,
    reasonIsFor: "they are told",
    yes: "Ask to release",
    after,
    run: async (form) => {
      const answer = await post("/v1/request-release", { name: lock.name, reason: form.get("reason") });
      return `${count(answer.holders?.length ?? 0, "holder was", "holders were")} asked to release the lock`;
    },
  });
}

/** Takes a lock away from those holders; of one among several, by its token. */
export function forceRelease(lock, holders, after) {
  const one = holders.length === 1 ? holders[0] : undefined;
  show({
    title: "Force release",
    about: html`<p><b class="name">${plain(lock.name)}</b> is taken away from</p>${holdersOf(holders)}
      <p>Work that is under way is not stopped by that: whoever checks tokens refuses it.</p>`,
    reasonIsFor: "the holder is told, and the audit",
    yes: "Force release",
    danger: true,
    after,
    run: async (form) => {
      const message = { name: lock.name, reason: form.get("reason") };
      if (one?.token) message.fencingToken = one.token;
      const answer = await post("/v1/force-release", message);
      return `The lock was taken away from ${count(answer.released ?? 0, "hold", "holds")}`;
    },
  });
}

/** Stops new grants of all locks with a prefix. */
export function freeze(prefix, after) {
  show({
    title: "Freeze",
    about: html`<p>Nobody new is granted a lock whose name begins with the prefix${prefix && html`: that is
      <b class="name"> ${plain(prefix)}</b> and whatever begins like it`}. Who holds one keeps it, and who waits keeps the place.</p>`,
    fields: html`<label>Prefix <input name="prefix" defaultValue=${prefix} value=${prefix} autocomplete="off" /></label>
      <label>For <select name="duration">
        <option value="300s">5 minutes</option><option value="1800s">30 minutes</option>
        <option value="7200s">2 hours</option><option value="86400s">a day</option>
        <option value="">until it is unfrozen</option>
      </select></label>`,
    reasonIsFor: "those who wait are told",
    yes: "Freeze",
    danger: true,
    after,
    run: async (form) => {
      const message = { prefix: form.get("prefix"), reason: form.get("reason") };
      if (form.get("duration")) message.duration = form.get("duration");
      await post("/v1/freeze", message);
      return `Frozen: ${plain(form.get("prefix")) || "all locks"}`;
    },
  });
}

/** Allows grants again. */
export function unfreeze(frozen, after) {
  const prefix = frozen.prefix ?? "";
  show({
    title: "Unfreeze",
    about: html`<p>Locks whose names begin with <b class="name">${plain(prefix) || "anything"}</b> are granted again.
      ${frozen.reason && ` They were frozen by ${plain(frozen.frozenBy)}: ${plain(frozen.reason)}`}</p>`,
    yes: "Unfreeze",
    after,
    run: async () => {
      await post("/v1/unfreeze", { prefix });
      return `Unfrozen: ${plain(prefix) || "all locks"}`;
    },
  });
}

/** Ends a lease with all that it holds. */
export function closeLease(lease, locks, after) {
  show({
    title: "Close lease",
    about: html`<p>The lease <span class="code">${lease.leaseTag}</span> of <b>${plain(lease.holder)}</b> ends, with
      ${" "}${count(lease.acquisitionCount ?? 0, "acquisition", "acquisitions")}. What it holds is lost to it${
      locks.length > 0 ? ":" : "."}</p>
      ${locks.length > 0 && html`<ul>${locks.slice(0, 10).map((name) => html`<li class="name">${plain(name)}</li>`)}${
        locks.length > 10 && html`<li>and ${locks.length - 10} more</li>`}</ul>`}`,
    reasonIsFor: "its client is told",
    yes: "Close lease",
    danger: true,
    after,
    run: async (form) => {
      await post("/v1/force-close-lease", { lease: lease.leaseTag, reason: form.get("reason") });
      return "The lease is closed";
    },
  });
}
