// What there is to know of a node of a graph: its rows, what relations say of it, and its edges that are not in the result.

import { query } from './api.js';
import { announce, button, element } from './dom.js';
import { stringify } from './json.js';
import { counted, text } from './values.js';

const MAX_ROWS = 30;
/** More edges at once would hide what was there. */
const MAX_EXPANDED = 300;
const MAX_FACTS = 10;

export class NodePanel {
  /** `graph` is the view of the graph, and `source` knows the relations: `names` and `schema(name)`. */
  constructor(graph, source) {
    Object.assign(this, { graph, source, node: null });
    this.title = element('h3', {});
    this.pinned = button('Pin', () => this.graph.pin(this.node, !this.node.pinned), { 'aria-pressed': 'false' });
    this.summary = element('p', { class: 'fact' });
    this.rows = element('ul', { class: 'node-rows' });
    this.facts = element('div', { class: 'node-facts' });
    this.problem = element('p', { class: 'problem', role: 'status' });
    this.makeForms();
    this.view = element('section', {
      class: 'node-panel', role: 'region', 'aria-label': 'Node', tabindex: -1, hidden: true, keydown: event => this.key(event),
    }, element('div', { class: 'node-head' }, this.title, this.pinned,
      button('×', () => this.leave(), { class: 'quiet', 'aria-label': 'Close', title: 'Close: Escape' })),
    this.summary, this.form, this.look, this.problem, this.facts, this.rows);
  }

  makeForms() {
    const select = (label, change) => element('select', { 'aria-label': label, change });
    this.relation = select('Relation with edges', () => this.fillColumns());
    this.from = select('Column of the beginning');
    this.to = select('Column of the end');
    this.way = element('select', { 'aria-label': 'Which edges' },
      [['both', 'both ways'], ['out', 'from it'], ['into', 'to it']].map(([value, name]) => element('option', { value }, name)));
    this.form = element('div', { class: 'node-form' }, this.relation,
      element('span', { class: 'node-columns' }, this.from, ' → ', this.to), this.way,
      button('Expand', () => this.expand(), { class: 'main', title: 'Asks the database for the edges of this node: e' }));
    this.about = select('Relation with values', () => this.lookUp());
    this.look = element('label', { class: 'node-form' }, 'Values in ', this.about);
  }

  async open(node) {
    this.node = node;
    this.view.hidden = false;
    this.problem.textContent = '';
    this.facts.replaceChildren();
    this.refresh();
    await this.fillRelations();
    if (node === this.node && this.about.value) this.lookUp();
  }

  close() {
    this.node = null;
    this.view.hidden = true;
  }

  /** Closes the panel, and gives the focus back. */
  leave() {
    this.graph.choose(null);
    this.graph.canvas.focus();
  }

  focus() {
    this.view.focus();
  }

  key(event) {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    this.leave();
  }

  /** Shows what may have changed. */
  refresh() {
    const { node, graph } = this;
    if (!node) return;
    const part = graph.data.components[node.component].length;
    this.title.textContent = node.name;
    this.title.title = node.name;
    this.pinned.textContent = node.pinned ? 'Unpin' : 'Pin';
    this.pinned.setAttribute('aria-pressed', String(node.pinned));
    this.summary.textContent = `${node.into} in, ${node.out} out; in a part of ${counted(part, 'node')}`;
    const rows = [...new Set(node.edges.map(edge => edge.row))];
    if (!rows.length && node.row) rows.push(node.row);
    const more = rows.length > MAX_ROWS && element('li', { class: 'note' }, `${counted(rows.length - MAX_ROWS, 'row')} more`);
    this.rows.replaceChildren(...rows.slice(0, MAX_ROWS).map(row => this.row(row)), ...(more ? [more] : []));
  }

  /** A row, with a way to the node at its other end. */
  row(row) {
    const { data, headers } = this.graph;
    const end = column => {
      const node = row[column] === null ? null : data.find(row[column]);
      if (!node || node === this.node) return text(row[column]);
      return button(node.name, () => this.graph.choose(node, true), { class: 'link' });
    };
    const others = headers.map((header, i) => (i === data.from || i === data.to ? null : `${header}: ${text(row[i])}`)).filter(Boolean);
    return element('li', {}, end(data.from), ' → ', end(data.to), others.length > 0 && element('span', { class: 'note' }, ` ${others.join(', ')}`));
  }

  /** Lists the relations that may have edges, unless they are listed already, or are being listed. */
  fillRelations() {
    const names = this.source.names.filter(name => !name.includes(':'));
    if (names.join() !== this.listed) {
      this.listed = names.join();
      this.filled = this.fillWith(names);
    }
    return this.filled;
  }

  /** Lists relations, and chooses one with the columns of the result. */
  async fillWith(names) {
    const schemas = await Promise.all(names.map(name => this.source.schema(name).catch(() => null)));
    // What could not be read is asked for again the next time.
    if (schemas.includes(null)) this.listed = null;
    this.columns = new Map(names.map((name, i) => [name, schemas[i]?.columns ?? []]).filter(([, columns]) => columns.length));
    const wide = [...this.columns].filter(([, columns]) => columns.length > 1).map(([name]) => name);
    const ends = this.ends();
    const has = (name, column) => this.columns.get(name).some(({ name: found }) => found === column);
    const best = wide.find(name => ends.every(column => has(name, column))) ?? wide[0];
    this.relation.replaceChildren(...wide.map(name => element('option', { value: name }, name)));
    this.relation.value = best ?? '';
    this.about.replaceChildren(element('option', { value: '' }, 'no relation'),
      ...[...this.columns.keys()].map(name => element('option', { value: name }, name)));
    this.form.hidden = !wide.length;
    this.look.hidden = !this.columns.size;
    this.fillColumns();
  }

  /** The columns of the result that have the ends of edges. */
  ends() {
    const { data, headers } = this.graph;
    return [headers[data.from], headers[data.to]];
  }

  fillColumns() {
    const columns = (this.columns.get(this.relation.value) ?? []).map(({ name }) => name);
    [this.from, this.to].forEach((select, i) => {
      select.replaceChildren(...columns.map(name => element('option', { value: name }, name)));
      const same = this.ends()[i];
      select.value = columns.includes(same) ? same : columns[i] ?? '';
    });
  }

  /** Asks for the edges of the node, and adds them to the graph. */
  async expand() {
    const { node, graph } = this;
    // The key may come before the relations are known, or after they have changed.
    await this.fillRelations();
    if (!node) return;
    if (!this.relation.value) {
      this.problem.textContent = 'no relation has two columns';
      return;
    }
    await this.attempt(async () => {
      const { rows } = await query(this.expansion(), { parameters: `{"node":${stringify(node.value)}}` });
      const added = graph.expand(rows.slice(0, MAX_EXPANDED));
      const cut = rows.length > MAX_EXPANDED ? `, and there are more than ${MAX_EXPANDED}` : '';
      this.refresh();
      this.problem.textContent = '';
      announce(`${counted(added.nodes, 'new node')}, ${counted(added.edges, 'new edge')}${cut}`);
    });
  }

  /** The script that asks for edges: rows like those of the result, with null for columns that the relation does not have. */
  expansion() {
    const { data, headers } = this.graph;
    const [relation, from, to] = [this.relation, this.from, this.to].map(({ value }) => value);
    const known = new Set(this.columns.get(relation).map(({ name }) => name));
    const columns = headers.map((header, i) => {
      if (i === data.from) return { variable: 'node_from', column: from };
      if (i === data.to) return { variable: 'node_to', column: to };
      return { variable: `c${i}`, column: known.has(header) && header !== from && header !== to ? header : null };
    });
    const read = columns.filter(({ column }) => column).map(({ column, variable }) => `${column}: ${variable}`).join(', ');
    const nulls = columns.filter(({ column }) => !column).map(({ variable }) => `, ${variable} = null`).join('');
    const head = `?[${columns.map(({ variable }) => variable).join(', ')}] := *${relation}{${read}}${nulls}`;
    const ways = { out: ['node_from'], into: ['node_to'], both: ['node_from', 'node_to'] }[this.way.value];
    return `${ways.map(end => `${head}, ${end} = $node`).join('\n')}\n:limit ${MAX_EXPANDED + 1}`;
  }

  /** Shows the rows of a relation whose first column has the node. */
  async lookUp() {
    const { node } = this;
    const name = this.about.value;
    this.facts.replaceChildren();
    if (!name) return;
    await this.attempt(async () => {
      const columns = this.columns.get(name).map(column => column.name);
      const script = `?[${columns.join(', ')}] := *${name}{${columns.join(', ')}}, ${columns[0]} = $node :limit ${MAX_FACTS}`;
      const { rows } = await query(script, { parameters: `{"node":${stringify(node.value)}}` });
      if (node !== this.node) return;
      const facts = rows.map(row => element('dl', {}, columns.map((column, i) => (
        [element('dt', {}, column), element('dd', {}, text(row[i]))]
      ))));
      this.facts.replaceChildren(...(facts.length ? facts : [element('p', { class: 'note' }, `${name} has no row of it`)]));
    });
  }

  async attempt(work) {
    try {
      this.problem.textContent = '';
      await work();
    } catch (error) {
      this.problem.textContent = error.message;
    }
  }
}
