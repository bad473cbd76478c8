// The dialog that loads a file of comma-separated values into a relation.

import { importRelation, query } from './api.js';
import { columnNames, jsonOf, records, separatorOf, typeOf } from './csv.js';
import { announce, at, element } from './dom.js';
import { counted } from './values.js';

const TYPES = ['Int', 'Int?', 'Float', 'Float?', 'Bool', 'Bool?', 'String', 'String?', 'Any?'];
const PREVIEWED = 6;
/** Larger files are for `cozo import`, which does not hold them in the memory of a browser. */
const MAX_BYTES = 100 << 20;
const NAME = /^\p{ID_Start}[\p{ID_Continue}.]*$/u;

export class CsvDialog {
  /** `source` knows the relations: `names` and `schema(name)`; `loaded()` hears that rows were loaded. */
  constructor(source, loaded) {
    Object.assign(this, { source, loaded, text: '', rows: [], columns: [] });
    this.dialog = at('csv-dialog');
    at('csv-open').addEventListener('click', () => this.open());
    at('csv-file').addEventListener('change', () => this.read());
    at('csv-separator').addEventListener('change', () => this.parse());
    at('csv-head').addEventListener('change', () => this.parse());
    at('csv-name').addEventListener('input', () => this.describe());
    at('csv-cancel').addEventListener('click', () => this.dialog.close());
    at('csv-form').addEventListener('submit', event => {
      event.preventDefault();
      this.load();
    });
  }

  open() {
    at('csv-form').reset();
    Object.assign(this, { text: '', rows: [], columns: [] });
    this.show('');
    this.dialog.showModal();
  }

  /** Shows the columns, and what is wrong. */
  show(problem) {
    at('csv-problem').textContent = problem;
    at('csv-found').hidden = !this.columns.length;
    at('csv-load').disabled = !this.columns.length;
    at('csv-count').textContent = this.columns.length ? counted(this.rows.length, 'row') : '';
    this.describe();
  }

  async read() {
    const [file] = at('csv-file').files;
    if (!file) return;
    [this.rows, this.columns] = [[], []];
    if (file.size > MAX_BYTES) {
      this.show(`the file has more than ${MAX_BYTES >> 20} MB: use 'cozo import'`);
      return;
    }
    this.text = await file.text();
    at('csv-name').value ||= columnNames([file.name.replace(/\.[^.]*$/, '')])[0].toLowerCase();
    at('csv-separator').value = separatorOf(this.text);
    this.parse();
  }

  parse() {
    [this.rows, this.columns] = [[], []];
    try {
      const all = records(this.text, at('csv-separator').value);
      const hasHead = at('csv-head').checked;
      const width = all.reduce((most, row) => Math.max(most, row.length), 0);
      this.rows = hasHead ? all.slice(1) : all;
      const heads = Array.from({ length: width }, (_, i) => (hasHead ? all[0][i] : null));
      this.columns = columnNames(heads).map((name, i) => ({ name, type: typeOf(this.rows, i), isKey: i === 0 }));
      this.preview();
      this.show(width ? '' : 'the file has no rows');
    } catch (error) {
      this.show(error.message);
    }
  }

  /** A table of the first rows, with a name, a type and a mark for each column. */
  preview() {
    const cells = (head, cell) => element('tr', {}, element('th', { scope: 'row' }, head), this.columns.map((column, i) => (
      element('td', {}, cell(column, i))
    )));
    const named = column => element('input', {
      value: column.name, 'aria-label': `Name of column ${column.name}`, class: 'code', input: event => { column.name = event.target.value.trim(); },
    });
    const typed = column => {
      const select = element('select', { 'aria-label': `Type of ${column.name}`, change: () => { column.type = select.value; } },
        TYPES.map(type => element('option', { value: type }, type)));
      select.value = column.type;
      return select;
    };
    const key = column => element('input', {
      type: 'checkbox', checked: column.isKey, 'aria-label': `${column.name} is a key`, change: event => { column.isKey = event.target.checked; },
    });
    const rows = this.rows.slice(0, PREVIEWED).map((row, i) => cells(String(i + 1), (_, column) => (
      row[column] === null || row[column] === undefined ? element('span', { class: 'note' }, 'none') : row[column].slice(0, 60)
    )));
    at('csv-preview').replaceChildren(
      element('thead', {}, cells('name', named)),
      element('tbody', {}, cells('type', typed), cells('key', key), rows),
    );
  }

  get exists() {
    return this.source.names.includes(at('csv-name').value.trim());
  }

  /** Says what will happen. */
  describe() {
    const name = at('csv-name').value.trim();
    at('csv-plan').textContent = !this.columns.length || !name ? ''
      : this.exists ? `The rows are put into the relation ${name}, which is there: columns go by their names, types are those of the relation.`
        : `Makes the relation ${name}. Of rows with the same keys the last one stays.`;
  }

  /** What is wrong with the names, or nothing. */
  problem(name) {
    if (!NAME.test(name)) return 'a relation is named with letters, digits and _, and begins with a letter';
    const bad = this.columns.find(column => !NAME.test(column.name) || column.name.includes('.'));
    if (bad) return `'${bad.name}' is no name for a column`;
    const names = this.columns.map(column => column.name);
    const double = names.find((column, i) => names.indexOf(column) !== i);
    if (double) return `two columns are named '${double}'`;
    return this.columns.some(column => column.isKey) || this.exists ? '' : 'at least one column must be a key';
  }

  async load() {
    const name = at('csv-name').value.trim();
    const problem = this.problem(name);
    if (problem) {
      this.show(problem);
      return;
    }
    at('csv-load').disabled = true;
    const made = !this.exists;
    try {
      const types = made ? this.columns.map(({ type }) => type) : await this.typesOf(name);
      if (made) await query(`:create ${name} ${this.schema()}`);
      await this.send(name, types).catch(async error => {
        // Nothing came in: what was made for it goes again.
        if (made) await query(`::remove ${name}`);
        throw error;
      });
      this.dialog.close();
      announce(`loaded ${counted(this.rows.length, 'row')} into ${name}`);
      this.loaded();
    } catch (error) {
      this.show([error.message, error.help].filter(Boolean).join('; '));
    }
  }

  schema() {
    const listed = columns => columns.map(({ name, type }) => `${name}: ${type}`).join(', ');
    const values = this.columns.filter(column => !column.isKey);
    return `{${listed(this.columns.filter(column => column.isKey))}${values.length ? ` => ${listed(values)}` : ''}}`;
  }

  /** The types that the columns of the file have in a relation that is there. */
  async typesOf(name) {
    const { columns } = await this.source.schema(name);
    return this.columns.map(({ name: column, type }) => {
      const known = columns.find(({ name: found }) => found === column)?.type;
      return TYPES.includes(known) ? known : type;
    });
  }

  send(name, types) {
    const headers = JSON.stringify(this.columns.map(column => column.name));
    const rows = this.rows.map(row => `[${types.map((type, i) => jsonOf(row[i], type)).join(',')}]`);
    return importRelation(`{${JSON.stringify(name)}:{"headers":${headers},"rows":[${rows.join(',')}]}}`);
  }
}
