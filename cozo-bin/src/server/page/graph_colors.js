// The colors of nodes and edges, and what they mean.

import { element } from './dom.js';
import { compare, counted, kind, text } from './values.js';

/** Colors that are told apart in both themes, also by most who see fewer. */
const PALETTE = ['#1f8a84', '#3b6fd4', '#d9822b', '#a24bb5', '#c2455b', '#5f9e2f', '#8d6e4b', '#2e9fce', '#d3a414', '#7a6ff0'];
const OTHERS = '#8592a0';
/** From the least to the greatest number. */
const RAMP = ['#3b6fd4', '#1f8a84', '#d3a414', '#c2455b'];
const RAMP_STEPS = 24;
const MAX_CUT = 24;

/** What can be colored by, as values of a choice: `nodes 2` is the third column. */
export function colorings(headers) {
  const columns = of => headers.map((header, i) => ({ value: `${of} ${i}`, text: `${of}: ${header}` }));
  return [
    { label: 'Graph', options: [
      { value: 'one', text: 'plain' }, { value: 'component', text: 'component' }, { value: 'degree', text: 'degree' },
    ] },
    { label: 'Nodes, by a column of rows from them', options: columns('nodes') },
    { label: 'Edges, by a column', options: columns('edges') },
  ];
}

/**
 * The colors of a graph: `{nodes, edges, title, entries, range}`. `nodes` and `edges` map colors to lists, and null stands for the plain
 * color of edges; `entries` are `{color, text, count}`, and `range` is there for numbers: `{least, greatest, colors}`.
 */
export function paint(data, by, headers) {
  const [what, column] = by.split(' ');
  const plainEdges = new Map([[null, data.edges]]);
  const plainNodes = new Map([[PALETTE[0], data.nodes]]);
  switch (what) {
    case 'component': return byComponent(data, plainEdges);
    case 'degree': return { ...spread(data.nodes, node => node.degree, 'degree', 'nodes'), edges: plainEdges };
    case 'nodes': return { ...spread(data.nodes, node => node.row?.[column], headers[column], 'nodes'), edges: plainEdges };
    case 'edges': return { ...spread(data.edges, edge => edge.row[column], headers[column], 'edges'), nodes: plainNodes };
    default: return { nodes: plainNodes, edges: plainEdges, title: '', entries: [] };
  }
}

function byComponent({ nodes, components }, edges) {
  if (components.length < 2) return { nodes: new Map([[PALETTE[0], nodes]]), edges, title: '', entries: [] };
  const made = classes(nodes, node => node.component, component => (
    component < PALETTE.length ? `component ${component + 1}` : null
  ));
  const entries = made.entries.map(entry => ({ ...entry, text: entry.text ?? 'others' }));
  return { nodes: made.groups, edges, title: counted(components.length, 'component'), entries };
}

/** Colors for things by their values: a ramp for many numbers, else a color for each of the most frequent values. */
function spread(things, valueOf, title, name) {
  const values = things.map(valueOf).filter(value => value !== undefined && value !== null);
  const distinct = new Set(values.map(text));
  const numbers = values.length > 0 && values.every(value => kind(value) === 'number');
  if (numbers && distinct.size > PALETTE.length) return { ...ramp(things, valueOf, values, name), title };
  const frequent = frequencies(values).slice(0, PALETTE.length).map(([value]) => value).sort(compare);
  const places = new Map(frequent.map((value, i) => [text(value), i]));
  const made = classes(things, thing => {
    const value = valueOf(thing);
    return value === undefined || value === null ? PALETTE.length + 1 : places.get(text(value)) ?? PALETTE.length;
  }, place => (place < PALETTE.length ? cut(text(frequent[place])) : place === PALETTE.length ? 'others' : 'no value'));
  return { [name]: made.groups, title, entries: made.entries };
}

/** Things by the colors of numbered classes, with an entry for each class. */
function classes(things, classOf, nameOf) {
  const byClass = new Map();
  for (const thing of things) {
    const found = Number(classOf(thing));
    if (byClass.has(found)) byClass.get(found).push(thing);
    else byClass.set(found, [thing]);
  }
  const [groups, entries] = [new Map(), []];
  for (const [found, members] of [...byClass].sort(([a], [b]) => a - b)) {
    const color = PALETTE[found] ?? OTHERS;
    groups.set(color, [...(groups.get(color) ?? []), ...members]);
    const text = nameOf(found);
    const last = entries.at(-1);
    if (last && last.text === text) last.count += members.length;
    else entries.push({ color, text, count: members.length });
  }
  return { groups, entries };
}

function frequencies(values) {
  const counts = new Map();
  for (const value of values) {
    const key = text(value);
    const entry = counts.get(key);
    if (entry) entry[1] += 1;
    else counts.set(key, [value, 1]);
  }
  return [...counts.values()].sort((a, b) => b[1] - a[1]);
}

function ramp(things, valueOf, values, name) {
  const numbers = values.map(Number).filter(Number.isFinite);
  const least = numbers.reduce((a, b) => Math.min(a, b), Infinity);
  const greatest = numbers.reduce((a, b) => Math.max(a, b), -Infinity);
  const groups = new Map();
  for (const thing of things) {
    const value = valueOf(thing);
    const part = (Number(value ?? NaN) - least) / (greatest - least || 1);
    const color = Number.isFinite(part) ? between(Math.round(part * RAMP_STEPS) / RAMP_STEPS) : OTHERS;
    if (groups.has(color)) groups.get(color).push(thing);
    else groups.set(color, [thing]);
  }
  return { [name]: groups, entries: [], range: { least, greatest, colors: RAMP } };
}

/** A color of the ramp, from 0 to 1. */
function between(part) {
  const at = Math.min(part, 0.9999) * (RAMP.length - 1);
  const [from, to] = [RAMP[Math.floor(at)], RAMP[Math.floor(at) + 1]].map(color => (
    [1, 3, 5].map(start => parseInt(color.slice(start, start + 2), 16))
  ));
  return `rgb(${from.map((value, i) => Math.round(value + (to[i] - value) * (at % 1))).join(', ')})`;
}

const cut = name => (name.length > MAX_CUT ? `${name.slice(0, MAX_CUT)}…` : name);

/** What the colors mean, to look at. */
export function legend({ title, entries, range }) {
  if (!title) return [];
  const swatch = color => {
    const made = element('span', { class: 'swatch' });
    made.style.background = color;
    return made;
  };
  const bar = range && element('span', { class: 'ramp' });
  if (bar) bar.style.background = `linear-gradient(to right, ${range.colors.join(', ')})`;
  return [
    element('strong', {}, title),
    range && element('div', { class: 'ramp-line' }, String(range.least), bar, String(range.greatest)),
    entries.length > 0 && element('ul', {}, entries.map(({ color, text: name, count }) => (
      element('li', {}, swatch(color), element('span', {}, name), element('span', { class: 'count' }, String(count)))
    ))),
  ].filter(Boolean);
}
