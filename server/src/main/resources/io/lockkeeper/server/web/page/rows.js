// A table of which only the rows that can be seen are in the document: ten thousand are as quick as forty.

import { Component, html } from "./parts.js";

const ROW_HEIGHT = 36;
const SPARE_ROWS = 8;

/**
 * Columns are { id, heading, cell(row), kind, sortable, title }. The rows come sorted; onSort(id) asks for another order.
 * onVisible(rows) is told which rows can be seen.
 */
export class LongTable extends Component {
  state = { top: 0, height: 600 };

  componentDidMount() {
    this.resized = new ResizeObserver(() => this.setState({ height: this.box.clientHeight }));
    this.resized.observe(this.box);
    this.told();
  }

  componentDidUpdate() {
    this.told();
  }

  componentWillUnmount() {
    this.resized.disconnect();
  }

  told() {
    const [first, last] = this.range();
    this.props.onVisible?.(this.props.rows.slice(first, last));
  }

  range() {
    const { top, height } = this.state;
    const { length } = this.props.rows;
    // Of fewer rows than there were, those at the end are there before the browser tells that it has scrolled up to them.
    const highest = Math.max(0, Math.min(Math.floor(top / ROW_HEIGHT), length - Math.ceil(height / ROW_HEIGHT)));
    return [Math.max(0, highest - SPARE_ROWS), Math.min(length, highest + Math.ceil(height / ROW_HEIGHT) + 1 + SPARE_ROWS)];
  }

  scrolled = () => {
    const top = this.box.scrollTop;
    // A few rows are in reserve: not every pixel draws anew.
    if (Math.abs(top - this.state.top) >= ROW_HEIGHT) this.setState({ top });
  };

  heading({ id, heading, kind, sortable, title }) {
    const { sort, onSort } = this.props;
    const direction = sort?.by === id ? (sort.descending ? "descending" : "ascending") : undefined;
    return html`<th key=${id} scope="col" class=${kind ?? ""} aria-sort=${direction} title=${title}>${sortable
      ? html`<button type="button" onClick=${() => onSort(id)}>${heading}<span class="arrow" aria-hidden="true">${
        direction === undefined ? "↕" : direction === "descending" ? "↓" : "↑"}</span></button>`
      : heading}</th>`;
  }

  render({ label, columns, rows, keyOf }) {
    const [first, last] = this.range();
    const space = (count) => count > 0 && html`<tr class="space" aria-hidden="true" key=${`space-${count === first}`}>
      <td colspan=${columns.length} style=${{ height: `${count * ROW_HEIGHT}px` }}></td></tr>`;
    return html`<div class="scroll long" role="region" aria-label=${label} tabindex="0" onScroll=${this.scrolled}
        ref=${(box) => { this.box = box; }}>
      <table aria-rowcount=${rows.length + 1}>
        <thead><tr aria-rowindex="1">${columns.map((column) => this.heading(column))}</tr></thead>
        <tbody>
          ${space(first)}
          ${rows.slice(first, last).map((row, i) => html`<tr key=${keyOf(row)} aria-rowindex=${first + i + 2}>
            ${columns.map(({ id, cell, kind }) => html`<td key=${id} class=${kind ?? ""}>${cell(row)}</td>`)}</tr>`)}
          ${space(rows.length - last)}
        </tbody>
      </table>
    </div>`;
  }
}
