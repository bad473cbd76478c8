// The nodes and edges of rows: each row is an edge between the values of two of its columns.

import { kind, text } from './values.js';

/** What stays usable when it is drawn. */
export const MAX_NODES = 20_000;
export const MAX_EDGES = 60_000;
/** Between edges that join the same nodes, in the units of the layout. */
const GAP = 9;
/** The widest bundle of such edges. */
const MAX_SPREAD = 60;

const keyOf = value => `${kind(value)} ${text(value)}`;

/**
 * A graph that grows by rows. A node is `{index, value, name, row, edges, into, out, degree, component, looped, pinned, x, y}`: `row` is
 * the first row that begins at it, `into` and `out` count its edges. An edge is `{from, to, row, name, bend, loop}`, with indices of nodes.
 */
export class GraphData {
  /** `from` and `to` are columns, and so is `label`, unless it is -1. */
  constructor({ from, to, label = -1 }) {
    Object.assign(this, { from, to, label });
    [this.nodes, this.edges, this.places, this.left] = [[], [], new Map(), 0];
    this.known = new Set();
  }

  /** The node of a value, if there is one. */
  find(value) {
    return this.nodes[this.places.get(keyOf(value))];
  }

  /** Whether a row would add nothing: there is such an edge, in whose row stands what this one has. */
  has(row) {
    const from = row[this.from] === null ? null : this.find(row[this.from]);
    const to = row[this.to] === null ? null : this.find(row[this.to]);
    if (!from || !to) return false;
    const same = edge => row.every((value, i) => value === null || keyOf(value) === keyOf(edge.row[i]));
    return from.edges.some(edge => edge.from === from.index && edge.to === to.index && same(edge));
  }

  /** Adds rows as far as they can be drawn; `left` counts those that cannot. A row that is there already adds nothing. */
  add(rows) {
    for (const row of rows) this.addRow(row);
    this.bundle();
    this.components = components(this.nodes, this.edges);
  }

  addRow(row) {
    const [from, to] = [row[this.from], row[this.to]];
    // A row with one end only is a node without an edge.
    const ends = [from, to].filter(value => value !== null);
    const unknown = new Set(ends.map(keyOf).filter(key => !this.places.has(key)));
    if (this.nodes.length + unknown.size > MAX_NODES || this.edges.length >= MAX_EDGES) {
      this.left += 1;
      return;
    }
    const [a, b] = ends.map(value => this.node(value));
    if (from !== null && !a.row) a.row = row;
    if (ends.length < 2) return;
    const name = this.label < 0 ? '' : text(row[this.label]);
    const key = `${a.index} ${b.index} ${row.map(keyOf).join('\u0000')}`;
    if (this.known.has(key)) return;
    this.known.add(key);
    const edge = { from: a.index, to: b.index, row, name, bend: 0, loop: 0 };
    this.edges.push(edge);
    a.edges.push(edge);
    if (a !== b) b.edges.push(edge);
    else a.looped = true;
    a.out += 1;
    b.into += 1;
    a.degree += 1;
    b.degree += 1;
  }

  node(value) {
    const key = keyOf(value);
    const place = this.places.get(key);
    if (place !== undefined) return this.nodes[place];
    const made = {
      index: this.nodes.length, value, name: text(value), row: null, edges: [], into: 0, out: 0, degree: 0, component: 0,
      looped: false, pinned: false, placed: false, x: 0, y: 0,
    };
    this.places.set(key, made.index);
    this.nodes.push(made);
    return made;
  }

  /** Bends edges that join the same nodes away from each other. */
  bundle() {
    const bundles = new Map();
    for (const edge of this.edges) {
      const key = edge.from < edge.to ? `${edge.from} ${edge.to}` : `${edge.to} ${edge.from}`;
      if (bundles.has(key)) bundles.get(key).push(edge);
      else bundles.set(key, [edge]);
    }
    for (const bundle of bundles.values()) {
      const gap = Math.min(GAP, MAX_SPREAD / bundle.length);
      bundle.forEach((edge, i) => {
        edge.loop = edge.from === edge.to ? i + 1 : 0;
        edge.bend = edge.loop ? 0 : (i - (bundle.length - 1) / 2) * gap * 2;
      });
    }
  }

  /** The nodes that edges join to one, and itself. */
  around(node) {
    return new Set([node.index, ...node.edges.flatMap(({ from, to }) => [from, to])]);
  }
}

/**
 * The parts that no edge joins, the largest first: lists of indices of nodes, each in an order in which neighbors come close
 * after one another. Tells each node its part.
 */
function components(nodes, edges) {
  const near = nodes.map(() => []);
  for (const { from, to } of edges) {
    near[from].push(to);
    near[to].push(from);
  }
  const seen = new Uint8Array(nodes.length);
  const found = [];
  // From the middle outwards: from nodes with many edges.
  const starts = nodes.map((_, i) => i).sort((a, b) => near[b].length - near[a].length || a - b);
  for (const start of starts) {
    if (seen[start]) continue;
    const part = [start];
    seen[start] = 1;
    for (let i = 0; i < part.length; i += 1) {
      for (const next of near[part[i]]) {
        if (seen[next]) continue;
        seen[next] = 1;
        part.push(next);
      }
    }
    found.push(part);
  }
  found.sort((a, b) => b.length - a.length);
  found.forEach((part, i) => part.forEach(index => { nodes[index].component = i; }));
  return found;
}
