// The stored relations with their schemas.

import { query } from './api.js';
import { at, button, element } from './dom.js';
import { text } from './values.js';

const QUERY_LIMIT = 100;
/** Of so many relations rows are counted, each for so long at most. */
const MAX_COUNTED = 200;
const COUNT_SECONDS = 2;

/** A number of rows in little room. */
const compact = rows => (
  rows < 100_000 ? rows.toLocaleString('en') : rows.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 1 })
);

/** What the page knows of the relations. */
export class Relations {
  /** `insert(script)` puts a query into the editor; `failed(error)` hears of what goes wrong. */
  constructor(insert, failed) {
    [this.insert, this.failed] = [insert, failed];
    this.list = at('relations-list');
    this.relations = [];
    this.schemas = new Map();
    this.open = new Set();
    this.counts = new Map();
    at('relations-filter').addEventListener('input', () => this.draw());
    at('relations-refresh').addEventListener('click', () => this.load());
  }

  get names() {
    return this.relations.map(relation => relation.name);
  }

  async load() {
    try {
      const { headers, rows } = await query('::relations');
      this.relations = rows.map(row => Object.fromEntries(headers.map((header, i) => [header, row[i]])));
      this.schemas.clear();
      this.draw();
      this.count();
    } catch (error) {
      this.failed(error);
    }
  }

  /** Counts the rows of the relations, one after another, until it is begun anew. */
  async count() {
    const round = this.round = (this.round ?? 0) + 1;
    const counted = this.relations.filter(({ access_level: level }) => level !== 'index').slice(0, MAX_COUNTED);
    for (const { name, arity } of counted) {
      const columns = ['n', ...Array(arity - 1).fill('_')].join(', ');
      // What takes longer is not known rather than a burden to the server.
      const found = await query(`?[count(n)] := *${name}[${columns}] :timeout ${COUNT_SECONDS}`).catch(() => null);
      if (round !== this.round) return;
      if (found) this.counts.set(name, Number(found.rows[0]?.[0] ?? 0));
      else this.counts.delete(name);
      const place = this.list.querySelector(`[data-rows="${CSS.escape(name)}"]`);
      if (place) place.textContent = this.rows(name);
    }
  }

  /** The number of rows of a relation, if it is known. */
  rows(name) {
    return this.counts.has(name) ? compact(this.counts.get(name)) : '';
  }

  /** The columns of a relation as far as they are known, and `later()` when they become known. */
  columns(name, later) {
    const known = this.schemas.get(name);
    if (!known && this.names.includes(name)) this.schema(name).then(later, () => {});
    return known?.columns?.map(({ name: column, type }) => ({ name: column, kind: 'column', detail: type })) ?? [];
  }

  /** The schema of a relation: `{columns, indices, triggers}`, each asked for once. */
  async schema(name) {
    const known = this.schemas.get(name);
    if (known) return known.done;
    const entry = {};
    entry.done = this.ask(name, entry).catch(error => {
      this.schemas.delete(name);
      throw error;
    });
    this.schemas.set(name, entry);
    return entry.done;
  }

  async ask(name, entry) {
    const { rows } = await query(`::columns ${name}`);
    entry.columns = rows.map(([column, isKey, , type, hasDefault]) => ({ name: column, isKey, type, hasDefault }));
    const relation = this.relations.find(known => known.name === name);
    // Indices have neither indices nor triggers.
    const isIndex = relation?.access_level === 'index';
    entry.indices = isIndex ? [] : (await query(`::indices ${name}`)).rows;
    const triggers = relation && relation.n_put_triggers + relation.n_rm_triggers + relation.n_replace_triggers;
    entry.triggers = triggers ? (await query(`::show_triggers ${name}`)).rows : [];
    return entry;
  }

  draw() {
    const wanted = at('relations-filter').value.trim().toLowerCase();
    const shown = this.relations.filter(({ name }) => name.toLowerCase().includes(wanted));
    at('relations-empty').hidden = shown.length > 0;
    at('relations-empty').textContent = this.relations.length ? 'No relation has this in its name.' : 'There are no stored relations yet.';
    this.list.replaceChildren(...shown.map(relation => this.entry(relation)));
  }

  entry(relation) {
    const { name, access_level: level, n_keys: keys, n_non_keys: values } = relation;
    const details = element('div', { class: 'schema', id: `schema-${name}`, hidden: true });
    const toggle = element('button', {
      type: 'button', class: 'disclosure', 'aria-expanded': 'false', 'aria-controls': details.id, 'aria-label': `Schema of ${name}`,
      click: () => this.toggle(relation, toggle, details),
    });
    const query = button(name, () => this.query(name), { class: 'relation-name', title: 'Insert a query of it' });
    const badge = level !== 'normal' && element('span', { class: 'badge' }, level);
    const rows = element('span', { class: 'rows-count', title: 'rows', dataset: { rows: name } }, this.rows(name));
    const arity = element('span', { class: 'arity', title: `${keys} keys, ${values} values` }, `${keys}+${values}`);
    if (this.open.has(name)) this.toggle(relation, toggle, details);
    const line = element('div', { class: 'relation' }, toggle, query, badge, rows, arity);
    return element('li', { class: level === 'index' ? 'index' : null }, line, details);
  }

  async toggle(relation, toggle, details) {
    const opens = details.hidden;
    details.hidden = !opens;
    toggle.setAttribute('aria-expanded', String(opens));
    this.open[opens ? 'add' : 'delete'](relation.name);
    if (!opens) return;
    try {
      details.replaceChildren(...described(relation, await this.schema(relation.name)));
    } catch (error) {
      details.replaceChildren(element('p', { class: 'problem' }, error.message));
    }
  }

  /** Puts a query of a relation into the editor. */
  async query(name) {
    try {
      const columns = (await this.schema(name)).columns.map(column => column.name).join(', ');
      this.insert(`?[${columns}] := *${name}{${columns}}\n:limit ${QUERY_LIMIT}\n`);
    } catch (error) {
      this.failed(error);
    }
  }
}

/** A schema to look at. */
function* described(relation, { columns, indices, triggers }) {
  if (relation.description) yield element('p', {}, relation.description);
  yield element('table', { class: 'columns' },
    element('thead', {}, element('tr', {}, ['role', 'column', 'type'].map(head => element('th', { scope: 'col' }, head)))),
    element('tbody', {}, columns.map(({ name, isKey, type, hasDefault }) => element('tr', { class: isKey ? 'key' : null },
      element('td', { class: 'role' }, isKey ? 'key' : 'value'),
      element('td', {}, name),
      element('td', { class: 'type' }, hasDefault ? `${type} default` : type)))));
  yield element('p', { class: 'fact' }, 'access level: ', element('b', {}, relation.access_level));
  for (const [name, , , { indices: positions } = {}] of indices) {
    const listed = (positions ?? []).map(position => columns[position]?.name ?? position).join(', ');
    yield element('p', { class: 'fact' }, 'index ', element('b', {}, text(name)), ` {${listed}}`);
  }
  for (const [event, , script] of triggers) {
    yield element('p', { class: 'fact' }, 'trigger on ', element('b', {}, text(event)));
    yield element('pre', { class: 'code' }, text(script));
  }
}
