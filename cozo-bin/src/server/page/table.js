// A table of any length: only the rows in sight are in the document.

import { at, element } from './dom.js';
import { stringify } from './json.js';
import { hasValidities, isValidity, readable } from './validity.js';
import { compare, kind, text } from './values.js';

const ROW_HEIGHT = 28;
/** Browsers lay out no element that is much higher; longer tables are scrolled in larger steps. */
const MOST_HEIGHT = 8_000_000;
const ROWS_BEYOND = 8;
/** The widths of columns follow from this many rows, in characters. */
const MEASURED_ROWS = 500;
const MOST_WIDTH = 60;
/** Longer texts are cut in cells; the whole value is a click away. */
const MOST_TEXT = 300;

export class Table {
  /** A table of `{headers, rows}`. */
  constructor({ headers, rows }) {
    [this.headers, this.rows] = [headers, rows];
    this.order = Uint32Array.from(rows, (_, i) => i);
    this.sorted = { column: -1, descending: false };
    this.active = { row: 0, column: 0 };
    this.body = element('tbody', { role: 'rowgroup' });
    this.times = headers.map((_, column) => hasValidities(rows.slice(0, MEASURED_ROWS).map(row => row[column])));
    this.widths = headers.map((header, column) => this.width(header, column));
    this.heads = headers.map((header, column) => this.head(header, column));
    this.grid = element(
      'table', { role: 'presentation', class: 'rows' },
      element('colgroup', {}, this.column(-1), headers.map((_, column) => this.column(column))),
      element('thead', { role: 'rowgroup' }, element(
        'tr', { role: 'row', 'aria-rowindex': 1 }, element('th', { role: 'columnheader', class: 'row-number' }, '#'), this.heads,
      )),
      this.body,
    );
    const characters = this.widths.reduce((sum, width) => sum + width, 0);
    this.grid.style.width = `calc(${characters}ch + ${headers.length * 18}px + ${this.numberWidth()})`;
    this.space = element('div', { class: 'space' }, this.grid);
    this.view = element('div', {
      class: 'table-view', tabindex: 0, role: 'grid', 'aria-label': 'Rows',
      'aria-rowcount': rows.length + 1, 'aria-colcount': headers.length + 1,
      scroll: () => this.draw(), keydown: event => this.key(event), copy: event => this.copyCell(event),
    }, this.space);
    this.body.addEventListener('click', event => this.click(event));
    this.body.addEventListener('dblclick', () => this.open());
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.view);
  }

  column(column) {
    const made = element('col');
    made.style.width = column < 0 ? this.numberWidth() : `calc(${this.widths[column]}ch + 18px)`;
    return made;
  }

  /** The width of the column with the numbers of the rows. */
  numberWidth() {
    return `calc(${Math.max(2, String(this.rows.length).length)}ch + 18px)`;
  }

  head(header, column) {
    return element('th', { role: 'columnheader', 'aria-sort': 'none' }, element('button', {
      type: 'button', title: `Sort by ${header}`, click: () => this.sort(column),
    }, element('span', { class: 'head-name' }, header), element('span', { class: 'arrow', 'aria-hidden': 'true' })));
  }

  width(header, column) {
    const lengths = this.rows.slice(0, MEASURED_ROWS).map(row => cut(this.shown(row[column], column)).length);
    return Math.min(Math.max(header.length + 3, 6, ...lengths), MOST_WIDTH);
  }

  /** The text of a value: times are shown as such where a column has nothing else. */
  shown(value, column) {
    return this.times[column] && isValidity(value) ? readable(value) : text(value);
  }

  /** The rows as they are sorted. */
  sortedRows() {
    return Array.from(this.order, index => this.rows[index]);
  }

  /** Sorts by a column: ascending, then descending, then as the rows came. */
  sort(column) {
    const { sorted } = this;
    if (sorted.column !== column) this.sorted = { column, descending: false };
    else if (!sorted.descending) this.sorted = { column, descending: true };
    else this.sorted = { column: -1, descending: false };
    const sign = this.sorted.descending ? -1 : 1;
    const indices = Uint32Array.from(this.rows, (_, i) => i);
    const byColumn = (a, b) => sign * compare(this.rows[a][column], this.rows[b][column]) || a - b;
    this.order = this.sorted.column < 0 ? indices : indices.sort(byColumn);
    this.heads.forEach((head, i) => {
      const direction = this.sorted.descending ? 'descending' : 'ascending';
      head.setAttribute('aria-sort', i === this.sorted.column ? direction : 'none');
    });
    this.draw();
  }

  /** How many rows fit, and which of them is the first. */
  visible() {
    const header = this.heads[0]?.offsetHeight || ROW_HEIGHT;
    const fitting = Math.max(1, Math.floor((this.view.clientHeight - header) / ROW_HEIGHT));
    const height = Math.min(this.rows.length * ROW_HEIGHT, MOST_HEIGHT);
    const range = Math.max(1, height + header - this.view.clientHeight);
    const most = Math.max(0, this.rows.length - fitting);
    const part = Math.min(1, this.view.scrollTop / range);
    return { fitting, height, header, range, most, first: Math.min(most, Math.floor(part * most + 1e-6)) };
  }

  /** Is called when the view is seen. */
  show() {
    this.draw();
  }

  draw() {
    const { fitting, first, height, header } = this.visible();
    this.space.style.height = `${height + header}px`;
    const from = Math.max(0, first - ROWS_BEYOND);
    const to = Math.min(this.rows.length, first + fitting + ROWS_BEYOND);
    this.body.replaceChildren(...Array.from({ length: to - from }, (_, i) => this.row(from + i)));
    // The rows hang below the header, which sticks to the top, so that the first one in sight is `first`.
    const isWhole = this.rows.length * ROW_HEIGHT <= MOST_HEIGHT;
    const top = isWhole ? from * ROW_HEIGHT : this.view.scrollTop - (first - from) * ROW_HEIGHT;
    this.body.style.transform = `translateY(${top}px)`;
  }

  row(position) {
    const index = this.order[position];
    return element(
      'tr', { role: 'row', 'aria-rowindex': position + 2, dataset: { position } },
      element('td', { role: 'rowheader', class: 'row-number' }, String(index + 1)),
      this.rows[index].map((value, column) => {
        const isActive = position === this.active.row && column === this.active.column;
        const id = isActive ? 'active-cell' : null;
        const kinds = `value ${kind(value)}${isActive ? ' active' : ''}`;
        const shown = this.shown(value, column);
        const title = this.times[column] ? text(value) : null;
        return element('td', { role: 'gridcell', class: kinds, id, title, dataset: { column } }, cut(shown));
      }),
    );
  }

  get activeValue() {
    return this.rows[this.order[this.active.row]]?.[this.active.column];
  }

  click(event) {
    const cell = event.target.closest('td.value');
    if (!cell) return;
    this.active = { row: Number(cell.parentElement.dataset.position), column: Number(cell.dataset.column) };
    this.body.querySelectorAll('.active').forEach(active => {
      active.classList.remove('active');
      active.removeAttribute('id');
    });
    cell.classList.add('active');
    cell.id = 'active-cell';
  }

  /** Shows the whole value of the active cell. */
  open() {
    const value = this.activeValue;
    if (value === undefined) return;
    at('value-title').textContent = this.headers[this.active.column];
    const time = this.times[this.active.column] && isValidity(value) ? `${readable(value)}\n` : '';
    at('value-text').textContent = typeof value === 'string' ? value : time + stringify(value, '  ');
    at('value-dialog').showModal();
  }

  key(event) {
    if (event.target !== this.view || event.ctrlKey || event.metaKey || event.altKey) return;
    const { row, column } = this.active;
    const page = this.visible().fitting;
    const move = {
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1],
      PageDown: [row + page, column], PageUp: [row - page, column],
      Home: [0, column], End: [this.rows.length - 1, column],
    }[event.key];
    if (event.key === 'Enter') this.open();
    else if (!move) return;
    else this.activate(...move);
    event.preventDefault();
  }

  activate(row, column) {
    const within = (value, count) => Math.max(0, Math.min(value, count - 1));
    this.active = { row: within(row, this.rows.length), column: within(column, this.headers.length) };
    const { fitting, first, range, most } = this.visible();
    const { row: wanted } = this.active;
    const top = wanted < first ? wanted : wanted >= first + fitting ? wanted - fitting + 1 : first;
    if (top !== first) this.view.scrollTop = Math.ceil((top * range) / Math.max(1, most));
    this.draw();
    this.view.setAttribute('aria-activedescendant', 'active-cell');
    this.body.querySelector('.active')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  copyCell(event) {
    if (this.activeValue === undefined || !getSelection().isCollapsed) return;
    event.clipboardData.setData('text/plain', text(this.activeValue));
    event.preventDefault();
  }
}

/** What a cell shows of a text: one line. */
const cut = whole => (whole.length > MOST_TEXT ? `${whole.slice(0, MOST_TEXT)}…` : whole).replaceAll('\n', '⏎');
