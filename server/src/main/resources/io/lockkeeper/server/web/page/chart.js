// A chart of numbers over the time since the page was opened.

import { Component, html } from "./parts.js";
import { number } from "./text.js";

const HEIGHT = 180;
const LEAST_SECONDS = 60;
const STEPS_SECONDS = [5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];
const DARK = matchMedia("(prefers-color-scheme: dark)");

function clock(moment) {
  return new Date(moment * 1000).toLocaleTimeString("en-GB");
}

/** The title, the moments (seconds since 1970), the values and, with "steps", values that stay until the next. */
export class Chart extends Component {
  componentDidMount() {
    this.draw();
    this.themed = () => this.draw();
    DARK.addEventListener("change", this.themed);
    this.resized = new ResizeObserver(() => this.plot?.setSize({ width: this.box.clientWidth, height: HEIGHT }));
    this.resized.observe(this.box);
  }

  componentDidUpdate() {
    this.plot?.setData(this.data());
  }

  componentWillUnmount() {
    DARK.removeEventListener("change", this.themed);
    this.resized.disconnect();
    this.plot?.destroy();
    this.plot = undefined;
    this.box = undefined;
  }

  data() {
    return [this.props.at, this.props.values];
  }

  async draw() {
    const { default: UPlot } = await import("./lib/uPlot.js");
    if (!this.box) return;
    this.plot?.destroy();
    const colours = getComputedStyle(document.documentElement);
    const [line, soft, grid] = ["--accent", "--soft", "--line"].map((name) => colours.getPropertyValue(name).trim());
    const axis = { stroke: soft, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    this.plot = new UPlot({
      width: this.box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { range: (plot, low, high) => [Math.min(low ?? 0, (high ?? 0) - LEAST_SECONDS), high ?? 1] },
        y: { range: (plot, low, high) => [0, Math.max(4, (high ?? 0) * 1.1)] },
      },
      axes: [{ ...axis, size: 32, space: 80, incrs: STEPS_SECONDS, values: (plot, moments) => moments.map(clock) }, { ...axis, size: 52, values: (plot, values) => values.map((v) => (v % 1 === 0 ? number(v) : "")) }],
      series: [{}, {
        stroke: line,
        width: 2,
        fill: `${line}22`,
        points: { show: false },
        paths: this.props.steps ? UPlot.paths.stepped({ align: 1 }) : undefined,
      }],
    }, this.data(), this.box);
  }

  render({ title, values }) {
    const now = values.at(-1) ?? 0;
    const highest = values.reduce((a, b) => Math.max(a, b), 0);
    return html`<figure class="chart">
      <figcaption>${title}: <b>${number(now)}</b> <span class="soft">highest ${number(highest)}</span></figcaption>
      <div role="img" aria-label=${`Chart of ${title.toLowerCase()} since the page was opened`}
        ref=${(box) => { this.box = box; }}></div>
    </figure>`;
  }
}
