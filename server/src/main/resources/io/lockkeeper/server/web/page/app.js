// The page: which view is shown under which address, and what surrounds it.

import { render } from "./lib/preact.js";
import { announce, Announcer, Question } from "./actions.js";
import { Cluster } from "./cluster.js";
import { Contention } from "./contention.js";
import { Leases, Lease } from "./leases.js";
import { live } from "./live.js";
import { Lock } from "./lock.js";
import { Locks } from "./locks.js";
import { Component, html } from "./parts.js";
import { plain, since } from "./text.js";

const NAVIGATION = [["locks", "Locks"], ["contention", "Contention"], ["leases", "Leases"], ["cluster", "Cluster"]];

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1])$/;

/** Returns what an address such as #/locks/orders%2F42 shows. */
function viewAt(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [part, ...rest] = path.split("/");
  const name = decoded(rest.join("/"));
  switch (part || "locks") {
    case "locks":
      return name
        ? { part: "locks", title: plain(name), view: html`<${Lock} key=${name} name=${name} />` }
        : { part: "locks", title: "Locks", view: html`<${Locks} only=${new URLSearchParams(query).get("only") ?? ""} />` };
    case "leases":
      return name
        ? { part: "leases", title: `Lease ${plain(name)}`, view: html`<${Lease} key=${name} lease=${name} />` }
        : { part: "leases", title: "Leases", view: html`<${Leases} />` };
    case "contention":
      return { part: "contention", title: "Contention", view: html`<${Contention} />` };
    case "cluster":
      return { part: "cluster", title: "Cluster", view: html`<${Cluster} />` };
    default:
      return { part: "", title: "Not found", view: html`<h1 tabindex="-1">Not found</h1>
        <p>There is nothing here. <a href="#/locks">See the locks</a>.</p>` };
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether what is shown is up to date. */
function Connection() {
  const { state, since: from, error } = live.connection;
  switch (state) {
    case "live": return html`<p class="connection good"><span class="dot" aria-hidden="true"></span>live</p>`;
    case "resuming": return html`<p class="connection"><span class="dot" aria-hidden="true"></span>reconnecting…</p>`;
    case "connecting": return html`<p class="connection"><span class="dot" aria-hidden="true"></span>connecting…</p>`;
    default: return html`<p class="connection bad"><span class="dot" aria-hidden="true"></span>reconnecting since ${since(from)}
      ${error && html`<span class="why">: ${plain(error)}</span>`}</p>`;
  }
}

/** What everybody must see who looks at any view. */
function Warnings() {
  const open = live.caller?.credential === "CREDENTIAL_KIND_NONE" && !LOOPBACK.test(location.hostname);
  const { readiness } = live;
  return html`
    ${open && html`<p class="note bad">Insecure: whoever reaches this coordinator can take, free and see every lock.</p>`}
    ${readiness && !readiness.serving && html`<p class="note bad">This coordinator does not serve: ${
      plain((readiness.reasons ?? []).join("; "))}. <a href="#/cluster">See the cluster</a>.</p>`}`;
}

class App extends Component {
  state = { hash: location.hash };

  componentDidMount() {
    addEventListener("hashchange", () => this.setState({ hash: location.hash }, this.arrived));
    addEventListener("keydown", this.pressed);
    live.listen(() => {
      this.tellOfConnection();
      this.setState({});
    });
    document.title = this.title();
  }

  title() {
    return `${viewAt(this.state.hash).title} · Lockkeeper`;
  }

  /** Another view begins at its heading. */
  arrived = () => {
    document.title = this.title();
    (this.wantsFilter ? document.getElementById("filter") : document.querySelector("h1"))?.focus();
    this.wantsFilter = false;
    scrollTo(0, 0);
  };

  pressed = (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || document.querySelector("dialog[open]");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const filter = document.getElementById("filter");
    this.wantsFilter = !filter;
    if (filter) filter.focus();
    else location.hash = "#/locks";
  };

  /** Said once for each change, and neither at the beginning nor when a page that was hidden is looked at again. */
  tellOfConnection() {
    const { state } = live.connection;
    if (state === this.told || state === "connecting" || state === "resuming") return;
    if (this.told) announce(state === "live" ? "The page is live again" : "The connection is lost: what is shown may be old");
    this.told = state;
  }

  render(props, { hash }) {
    const { part, view } = viewAt(hash);
    return html`
      <button type="button" class="skip" onClick=${() => document.querySelector("h1")?.focus()}>Skip to the content</button>
      <header>
        <a class="brand" href="#/locks">Lockkeeper</a>
        <nav aria-label="Views"><ul>${NAVIGATION.map(([name, label]) => html`<li key=${name}>
          <a href=${`#/${name}`} aria-current=${name === part ? "page" : undefined}>${label}</a></li>`)}</ul></nav>
        <${Connection} />
      </header>
      <main><${Warnings} />${view}</main>
      <${Announcer} />
      <${Question} />`;
  }
}

live.start();
render(html`<${App} />`, document.getElementById("app"));
