// A result as a graph: two columns are the ends of edges, a third one what stands at them.

import { drawn, element } from './dom.js';
import { Forces } from './forces.js';
import { counted, kind, text } from './values.js';

const MOST_NODES = 400;
const MOST_EDGES = 1200;
const MOST_LABELS = 150;
const MOST_TEXT = 24;
const RADIUS = 4;
/** When all of a large graph is looked at, its nodes become smaller than they are. */
const MOST_SCALE = 2.5;

/** The nodes and edges of rows, as many as can be drawn; `left` counts the rows that are left out. */
export function graphOf(rows, from, to, label) {
  const [places, edges, nodes] = [new Map(), new Map(), []];
  let left = 0;
  const known = value => places.get(`${kind(value)} ${text(value)}`);
  const place = value => {
    const key = `${kind(value)} ${text(value)}`;
    if (!places.has(key)) places.set(key, nodes.push({ name: text(value), degree: 0 }) - 1);
    return places.get(key);
  };
  for (const row of rows) {
    const ends = new Set([row[from], row[to]].filter(value => known(value) === undefined).map(text));
    if (nodes.length + ends.size > MOST_NODES || edges.size >= MOST_EDGES) {
      left += 1;
      continue;
    }
    const [a, b] = [place(row[from]), place(row[to])];
    const edge = edges.get(`${a} ${b}`);
    const name = label < 0 ? '' : text(row[label]);
    if (edge) edge.name = edge.name === name ? name : `${edge.name}, ${name}`;
    else {
      edges.set(`${a} ${b}`, { from: a, to: b, name });
      nodes[a].degree += 1;
      nodes[b].degree += 1;
    }
  }
  for (const edge of edges.values()) edge.bent = edges.has(`${edge.to} ${edge.from}`) && edge.from !== edge.to;
  return { nodes, edges: [...edges.values()], left };
}

const cut = name => (name.length > MOST_TEXT ? `${name.slice(0, MOST_TEXT)}…` : name);

/** The view of a result with at least two columns. */
export class Graph {
  constructor({ headers, rows }) {
    this.rows = rows;
    this.scale = 1;
    const columns = optional => [
      ...(optional ? [element('option', { value: -1 }, 'none')] : []),
      ...headers.map((header, i) => element('option', { value: i }, header)),
    ];
    const choice = (name, value, optional) => {
      const select = element('select', { change: () => this.load() }, columns(optional));
      select.value = value;
      return [select, element('label', {}, `${name} `, select)];
    };
    const [from, to, label] = [choice('From', 0), choice('To', 1), choice('Label', headers.length > 2 ? 2 : -1, true)];
    this.choices = [from, to, label].map(([select]) => select);
    this.note = element('span', { class: 'note' });
    this.drawing = drawn('svg', {
      class: 'graph', role: 'img', tabindex: 0,
      wheel: event => this.wheel(event), pointerdown: event => this.grab(event), keydown: event => this.key(event),
    });
    this.view = element('div', { class: 'graph-view' }, element(
      'div', { class: 'view-bar' }, [from, to, label].map(([, shown]) => shown),
      element('button', { type: 'button', click: () => this.fit() }, 'Fit'), this.note,
    ), this.drawing);
  }

  /** Is called when the view is seen. */
  show() {
    if (!this.forces) this.load();
  }

  load() {
    const [from, to, label] = this.choices.map(select => Number(select.value));
    const { nodes, edges, left } = graphOf(this.rows, from, to, label);
    this.forces = new Forces(nodes, edges, this.drawing.clientWidth / (this.drawing.clientHeight || 1));
    const what = `${counted(nodes.length, 'node')}, ${counted(edges.length, 'edge')}`;
    this.note.textContent = left ? `${what}; ${counted(left, 'row')} more than can be drawn` : what;
    this.drawing.setAttribute('aria-label', `A graph of ${what}`);
    this.make(nodes, edges);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      while (!this.forces.isCold) this.forces.step();
      this.forces.level();
      this.fit();
      this.drawing.dataset.settled = 'true';
    } else {
      // What is seen first is roughly in order.
      for (let i = 0; i < 120; i += 1) this.forces.step();
      this.forces.level();
      this.moved = false;
      this.run();
    }
  }

  make(nodes, edges) {
    // Each drawing has its own: one of a hidden drawing would not be seen.
    const id = `arrow-${Graph.count = (Graph.count ?? 0) + 1}`;
    const arrow = drawn('marker', {
      id, viewBox: '0 0 8 8', refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto', markerUnits: 'userSpaceOnUse',
    }, drawn('path', { d: 'M0 0.5 8 4 0 7.5z', class: 'arrow-head' }));
    this.paths = edges.map(() => drawn('path', { class: 'edge', 'marker-end': `url(#${id})` }));
    this.labels = edges.length <= MOST_LABELS ? edges.map(({ name }) => drawn('text', { class: 'edge-label' }, cut(name))) : [];
    const most = Math.max(1, ...nodes.map(node => node.degree));
    this.points = nodes.map((node, i) => {
      node.radius = RADIUS + 5 * Math.sqrt(node.degree / most);
      const label = drawn('text', { y: -node.radius - 4, class: 'node-label' }, cut(node.name));
      return drawn('g', {
        class: 'node', dataset: { node: i }, pointerenter: () => this.light(i), pointerleave: () => this.light(-1),
      }, drawn('title', {}, node.name), drawn('circle', { r: node.radius }), label);
    });
    this.drawing.classList.toggle('crowded', nodes.length > MOST_LABELS);
    this.drawing.replaceChildren(drawn('defs', {}, arrow), ...this.paths, ...this.labels, ...this.points);
  }

  run() {
    const forces = this.forces;
    const frame = () => {
      // The view may be gone, or show another graph.
      if (!this.drawing.isConnected || forces !== this.forces) return;
      for (let i = 0; i < 3 && !forces.isCold; i += 1) forces.step();
      if (this.moved) this.place();
      else this.fit();
      if (!forces.isCold) requestAnimationFrame(frame);
      else this.drawing.dataset.settled = 'true';
    };
    requestAnimationFrame(frame);
  }

  /** Moves what is drawn to where the nodes are. */
  place() {
    const { nodes, edges } = this.forces;
    // Nodes and labels have the same size at any distance.
    const { scale } = this;
    nodes.forEach(({ x, y }, i) => {
      this.points[i].setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale.toFixed(3)})`);
    });
    edges.forEach((edge, i) => {
      const { path, middle } = line(nodes[edge.from], nodes[edge.to], edge, scale);
      this.paths[i].setAttribute('d', path);
      this.labels[i]?.setAttribute('x', middle.x.toFixed(1));
      this.labels[i]?.setAttribute('y', middle.y.toFixed(1));
    });
  }

  /** Shows all of the graph. */
  fit() {
    const { nodes } = this.forces;
    const [xs, ys] = [nodes.map(node => node.x), nodes.map(node => node.y)];
    const [left, top] = [Math.min(0, ...xs) - 60, Math.min(0, ...ys) - 50];
    const [width, height] = [Math.max(0, ...xs) + 60 - left, Math.max(0, ...ys) + 40 - top];
    const { clientWidth, clientHeight } = this.drawing;
    // Small graphs are not blown up.
    const scale = Math.max(width / (clientWidth || 1), height / (clientHeight || 1), 0.6);
    const [w, h] = [clientWidth * scale, clientHeight * scale];
    this.look(left - (w - width) / 2, top - (h - height) / 2, w, h);
  }

  look(x, y, width, height) {
    this.box = { x, y, width, height };
    this.scale = Math.min(width / (this.drawing.clientWidth || 1), MOST_SCALE);
    this.drawing.style.setProperty('--scale', this.scale.toFixed(3));
    this.drawing.setAttribute('viewBox', [x, y, Math.max(width, 1), Math.max(height, 1)].map(n => n.toFixed(1)).join(' '));
    this.place();
  }

  zoom(factor, clientX, clientY) {
    const bounds = this.drawing.getBoundingClientRect();
    const { x, y, width, height } = this.box;
    const [right, down] = [(clientX - bounds.left) / bounds.width, (clientY - bounds.top) / bounds.height];
    this.moved = true;
    this.look(x + width * right * (1 - factor), y + height * down * (1 - factor), width * factor, height * factor);
  }

  wheel(event) {
    event.preventDefault();
    this.zoom(Math.exp(event.deltaY * 0.0015), event.clientX, event.clientY);
  }

  key(event) {
    const { left, top, width, height } = this.drawing.getBoundingClientRect();
    const pan = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (pan) {
      const { x, y, width: wide, height: high } = this.box;
      this.look(x + (pan[0] * wide) / 10, y + (pan[1] * high) / 10, wide, high);
    } else if (event.key === '+' || event.key === '-') this.zoom(event.key === '+' ? 0.8 : 1.25, left + width / 2, top + height / 2);
    else if (event.key === '0') this.fit();
    else return;
    event.preventDefault();
    this.moved = true;
  }

  /** Drags a node, or all of the drawing. */
  grab(event) {
    const { drawing, forces } = this;
    const node = forces.nodes[event.target.closest('.node')?.dataset.node];
    let [x, y] = [event.clientX, event.clientY];
    drawing.setPointerCapture(event.pointerId);
    const scale = this.box.width / drawing.clientWidth;
    const move = ({ clientX, clientY }) => {
      const [right, down] = [(clientX - x) * scale, (clientY - y) * scale];
      [x, y] = [clientX, clientY];
      this.moved = true;
      if (!node) {
        this.look(this.box.x - right, this.box.y - down, this.box.width, this.box.height);
        return;
      }
      node.held = true;
      node.x += right;
      node.y += down;
      const wasCold = forces.isCold;
      forces.warm();
      if (wasCold) this.run();
    };
    const end = () => {
      drawing.removeEventListener('pointermove', move);
      if (node) node.held = false;
    };
    drawing.addEventListener('pointermove', move);
    drawing.addEventListener('pointerup', end, { once: true });
    drawing.addEventListener('pointercancel', end, { once: true });
  }

  /** Brings out a node with its neighbors; -1 is none. */
  light(node) {
    this.drawing.classList.toggle('lit', node >= 0);
    const near = new Set([node]);
    this.forces.edges.forEach(({ from, to }, i) => {
      const touches = from === node || to === node;
      this.paths[i].classList.toggle('near', touches);
      this.labels[i]?.classList.toggle('near', touches);
      if (touches) near.add(from).add(to);
    });
    this.points.forEach((point, i) => point.classList.toggle('near', near.has(i)));
  }
}

/** The path of an edge between the rims of its nodes, and the place of its label. */
function line(a, b, { from, to, bent }, scale) {
  const [rimA, rimB] = [a.radius * scale, (b.radius + 1) * scale];
  if (from === to) {
    const [x, y, r] = [a.x, a.y, rimA];
    return { path: `M${x - r} ${y}C${x - r - 30} ${y - 10} ${x - 10} ${y - r - 30} ${x} ${y - r}`, middle: { x: x - 22, y: y - 24 } };
  }
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const far = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / far, dy / far];
  const bend = bent ? 14 : 0;
  const [cx, cy] = [(a.x + b.x) / 2 - uy * bend, (a.y + b.y) / 2 + ux * bend];
  const start = `${(a.x + ux * rimA).toFixed(1)} ${(a.y + uy * rimA).toFixed(1)}`;
  const end = `${(b.x - ux * rimB).toFixed(1)} ${(b.y - uy * rimB).toFixed(1)}`;
  return { path: `M${start}Q${cx.toFixed(1)} ${cy.toFixed(1)} ${end}`, middle: { x: cx, y: cy } };
}
