// Where the nodes of a graph are: nodes push each other away, edges pull, and all of it cools down. The parts of a graph that no edge
// joins know nothing of each other, and are packed beside each other.
//
// All work is done in slices, so that the page answers meanwhile. T. M. J. Fruchterman and E. M. Reingold, Graph drawing by
// force-directed placement, Software: Practice and Experience 21 (1991); the pushes are those of `quadtree.js`.

import { pack } from './packing.js';
import { Quadtree } from './quadtree.js';

/** The length that edges tend to. */
export const LENGTH = 60;
const PUSH = 260;
/** How much of the heat is lost in a round. */
const COOLING = 0.0228;
const COLDEST = 0.001;
/** How much of a movement goes on in the next round. */
const SWING = 0.6;
/** The pull to the middle of a part keeps it round. */
const GRAVITY = 0.006;
/** The room around a part. */
const MARGIN = 34;
/** After so many bodies or edges it is looked at the clock. */
const SLICE = 256;
/** Parts are packed anew after so many rounds, and move a part of the way in each drawing. */
const ROUNDS_PACKED = 12;
const EASING = 0.2;

/** The layout of `GraphData`, in an area that is `aspect` times as wide as high. Nodes that were placed before stay about there. */
export class Layout {
  constructor(data, aspect) {
    [this.data, this.aspect] = [data, Math.min(Math.max(aspect || 1, 0.4), 3)];
    const { nodes, components } = data;
    [this.heat, this.rounds, this.work] = [1, 0, null];
    for (const name of ['x', 'y', 'dx', 'dy']) this[name] = new Float64Array(nodes.length);
    this.tree = new Quadtree(nodes.length);
    this.order = components.flat();
    this.slots = new Int32Array(nodes.length);
    this.order.forEach((index, slot) => { this.slots[index] = slot; });
    let start = 0;
    this.parts = components.map(part => {
      const made = { start, end: start + part.length, x: 0, y: 0, toX: 0, toY: 0, edges: [] };
      start = made.end;
      return made;
    });
    for (const edge of data.edges) this.join(edge);
    this.parts.forEach(part => this.begin(part));
    if (!nodes.some(node => node.placed)) this.pack(1);
    this.write();
  }

  join({ from, to }) {
    if (from === to) return;
    const { nodes } = this.data;
    const [few, many] = [nodes[from].degree, nodes[to].degree];
    // The end with fewer edges moves more; ends with many edges are pulled by each of them a little.
    this.parts[nodes[from].component].edges.push({
      from: this.slots[from], to: this.slots[to], strength: 1 / Math.max(1, Math.min(few, many)), share: few / (few + many),
    });
  }

  /** Gives the nodes of a part places to begin at. */
  begin(part) {
    const { x, y } = this;
    const members = this.order.slice(part.start, part.end).map(index => this.data.nodes[index]);
    const placed = members.filter(node => node.placed);
    if (placed.length) {
      part.x = part.toX = placed.reduce((sum, node) => sum + node.x, 0) / placed.length;
      part.y = part.toY = placed.reduce((sum, node) => sum + node.y, 0) / placed.length;
    }
    members.forEach((node, i) => {
      // A spiral: no two nodes are at one place, and the same graph always looks the same.
      const [radius, angle] = [LENGTH * 0.45 * Math.sqrt(i + 0.5), i * 2.399963];
      const near = node.placed ? node : this.neighbor(node);
      const spread = !near ? radius : node.placed ? 0 : LENGTH / 2;
      x[part.start + i] = (near ? near.x - part.x : 0) + spread * Math.cos(angle);
      y[part.start + i] = (near ? near.y - part.y : 0) + spread * Math.sin(angle);
    });
  }

  /** A neighbor of a node that has a place. */
  neighbor(node) {
    const ends = node.edges.map(({ from, to }) => this.data.nodes[from === node.index ? to : from]);
    return ends.find(end => end.placed);
  }

  get isCold() {
    return this.heat < COLDEST;
  }

  warm(heat = 0.3) {
    this.heat = Math.max(this.heat, heat);
  }

  /** Moves nodes for so many milliseconds, or until all is cold, and tells them where they are. */
  advance(milliseconds) {
    const end = performance.now() + milliseconds;
    while (!this.isCold && performance.now() < end) {
      this.work ??= this.round();
      if (this.work.next().done) this.work = null;
    }
    this.settle();
  }

  /** One round, with pauses. */
  * round() {
    this.heat -= this.heat * COOLING;
    this.rounds += 1;
    let done = 0;
    for (const part of this.parts) {
      done += part.edges.length / 4 + 1;
      this.pull(part);
      if (done >= SLICE) yield (done = 0);
      if (part.end - part.start > 1) this.tree.build(this.x, this.y, part.start, part.end);
      for (let i = part.start; i < part.end && part.end - part.start > 1; i += 1) {
        this.tree.push(i, PUSH * this.heat, this.dx, this.dy);
        done += 1;
        if (done >= SLICE) yield (done = 0);
      }
    }
    this.move();
  }

  pull(part) {
    const { x, y, dx, dy, heat } = this;
    for (const { from, to, strength, share } of part.edges) {
      const [wayX, wayY] = [x[to] + dx[to] - x[from] - dx[from], y[to] + dy[to] - y[from] - dy[from]];
      const far = Math.sqrt(wayX * wayX + wayY * wayY) || 1;
      const pull = ((far - LENGTH) / far) * heat * strength;
      dx[to] -= wayX * pull * share;
      dy[to] -= wayY * pull * share;
      dx[from] += wayX * pull * (1 - share);
      dy[from] += wayY * pull * (1 - share);
    }
  }

  move() {
    const { x, y, dx, dy, order } = this;
    const { nodes } = this.data;
    // Flatter pictures press harder from above and below.
    const [gravityX, gravityY] = [1, this.aspect ** 2].map(press => GRAVITY * press * this.heat);
    for (let i = 0; i < order.length; i += 1) {
      if (nodes[order[i]].pinned) {
        dx[i] = dy[i] = 0;
        continue;
      }
      dx[i] = (dx[i] - x[i] * gravityX) * SWING;
      dy[i] = (dy[i] - y[i] * gravityY) * SWING;
      x[i] += dx[i];
      y[i] += dy[i];
    }
    if (this.rounds % ROUNDS_PACKED === 0 || this.isCold) this.pack(0);
  }

  /** Sets where the parts are to be; `now` is 1 if they are there at once. Whoever has pinned a node wants all to stay. */
  pack(now) {
    const { nodes } = this.data;
    if (this.parts.length < 2 || nodes.some(node => node.pinned)) return;
    const boxes = this.parts.map(part => this.box(part));
    pack(boxes, this.aspect).forEach((place, i) => {
      const part = this.parts[i];
      [part.toX, part.toY] = [place.x - boxes[i].x, place.y - boxes[i].y];
      if (now) [part.x, part.y] = [part.toX, part.toY];
    });
  }

  /** The room of a part with its middle, in its own coordinates. */
  box({ start, end }) {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = start; i < end; i += 1) {
      left = Math.min(left, this.x[i]);
      right = Math.max(right, this.x[i]);
      top = Math.min(top, this.y[i]);
      bottom = Math.max(bottom, this.y[i]);
    }
    return { width: right - left + 2 * MARGIN, height: bottom - top + 2 * MARGIN, x: (left + right) / 2, y: (top + bottom) / 2 };
  }

  /** Turns each part so that it is widest from left to right. */
  level() {
    const { x, y } = this;
    for (const { start, end } of this.parts) {
      let [xx, xy, yy] = [0, 0, 0];
      for (let i = start; i < end; i += 1) {
        xx += x[i] * x[i];
        xy += x[i] * y[i];
        yy += y[i] * y[i];
      }
      const angle = Math.atan2(2 * xy, xx - yy) / 2;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      for (let i = start; i < end; i += 1) [x[i], y[i]] = [x[i] * cos + y[i] * sin, y[i] * cos - x[i] * sin];
    }
    this.dx.fill(0);
    this.dy.fill(0);
    this.pack(1);
    this.write();
  }

  /** Moves the parts to where they are to be, and tells the nodes their places. */
  settle() {
    const part = this.isCold ? 1 : EASING;
    for (const moved of this.parts) {
      moved.x += (moved.toX - moved.x) * part;
      moved.y += (moved.toY - moved.y) * part;
    }
    this.write();
  }

  write() {
    const { nodes } = this.data;
    for (const { start, end, x, y } of this.parts) {
      for (let i = start; i < end; i += 1) {
        const node = nodes[this.order[i]];
        node.x = this.x[i] + x;
        node.y = this.y[i] + y;
        node.placed = true;
      }
    }
  }

  /** Puts a node somewhere. */
  put(node, x, y) {
    const [slot, part] = [this.slots[node.index], this.parts[node.component]];
    [part.toX, part.toY] = [part.x, part.y];
    [this.x[slot], this.y[slot]] = [x - part.x, y - part.y];
    [this.dx[slot], this.dy[slot]] = [0, 0];
    [node.x, node.y] = [x, y];
  }
}
