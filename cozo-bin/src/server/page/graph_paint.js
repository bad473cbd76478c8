// Draws a graph with a pen: the context of a canvas, or one that writes SVG (`svg_pen.js`). All lengths are pixels of the picture.

import { choose } from './labels.js';

const SMALLEST = 3.6;
const ARROW = 7;
/** Shorter edges have no arrow: it would be all of them. */
const ARROW_LENGTH = 16;
const MAX_LABELS = 260;
const MAX_EDGE_LABELS = 120;
const MAX_TEXT = 28;
/** Among more edges nobody makes out an arrow; there are fewer in sight when one comes closer. */
const MAX_ARROWS = 8000;
const MAX_MOVING_EDGES = 8000;
/** Lines that are drawn in one go. More would take longer, since they are laid over each other. */
const LINES_AT_ONCE = 300;
const FONT = '12px "Segoe UI", -apple-system, "Noto Sans", "DejaVu Sans", system-ui, sans-serif';
const EDGE_FONT = FONT.replace('12px', '11px');
const DIM = 0.13;

/** The name of a node or edge as it is written beside it. */
export const short = name => (name.length > MAX_TEXT ? `${name.slice(0, MAX_TEXT)}…` : name).replaceAll('\n', ' ');

/** The radius of a node in the picture. */
export function radius(node, { scale }, most) {
  const size = SMALLEST + 6 * Math.sqrt(node.degree / Math.max(most, 1));
  return Math.max(1.2, size * Math.min(Math.max(Math.sqrt(scale), 0.35), 2));
}

/** What is needed to draw one picture of a scene: `{data, colors, chosen, lit, found, byDegree}` as `graph.js` has it. */
export class Painter {
  constructor(pen, scene, camera, style) {
    Object.assign(this, { pen, scene, camera, style, nodes: scene.data.nodes });
    this.most = scene.byDegree[0]?.degree ?? 1;
  }

  /** Draws all of it; where `details` are left out it is done sooner. */
  draw(details = true) {
    const { pen, camera, style, scene } = this;
    pen.fillStyle = style.paper;
    pen.fillRect(0, 0, camera.width, camera.height);
    this.places = this.nodes.map(node => {
      const { x, y } = camera.toPicture(node);
      return { x, y, r: radius(node, camera, this.most) };
    });
    this.drawEdges(details);
    this.drawNodes();
    if (details || scene.byDegree.length < 2000) this.drawLabels();
  }

  isLit(edge) {
    const { lit, center } = this.scene;
    return !lit || edge.from === center || edge.to === center;
  }

  drawEdges(details) {
    const { pen, style, scene } = this;
    pen.lineWidth = Math.min(Math.max(this.camera.scale * 1.7, 0.5), 1.8);
    for (const [color, edges] of scene.colors.edges) {
      // A part of very many edges gives the same impression while they move.
      const step = details ? 1 : Math.ceil(edges.length / MAX_MOVING_EDGES);
      const drawn = step > 1 ? edges.filter((_, i) => i % step === 0) : edges;
      const seen = drawn.map(edge => this.curve(edge)).filter(Boolean);
      const groups = scene.lit ? [seen.filter(curve => !this.isLit(curve.edge)), seen.filter(curve => this.isLit(curve.edge))] : [[], seen];
      groups.forEach((curves, isLit) => {
        pen.globalAlpha = isLit ? style.edgeAlpha : DIM;
        pen.strokeStyle = pen.fillStyle = color ?? (scene.lit && isLit ? style.accent : style.edge);
        this.stroke(curves);
        if (details && curves.length <= MAX_ARROWS) this.drawArrows(curves);
      });
    }
    pen.globalAlpha = 1;
  }

  /** Where an edge runs, or nothing if it is out of sight. */
  curve(edge) {
    const { width, height, scale } = this.camera;
    const [a, b] = [this.places[edge.from], this.places[edge.to]];
    const room = edge.loop ? 60 * scale : Math.abs(edge.bend) * scale;
    if (Math.max(a.x, b.x) + room < 0 || Math.min(a.x, b.x) - room > width) return null;
    if (Math.max(a.y, b.y) + room < 0 || Math.min(a.y, b.y) - room > height) return null;
    return { edge, a, b };
  }

  stroke(curves) {
    const { pen } = this;
    for (let start = 0; start < curves.length; start += LINES_AT_ONCE) {
      pen.beginPath();
      curves.slice(start, start + LINES_AT_ONCE).forEach(curve => this.trace(curve));
      pen.stroke();
    }
  }

  trace({ edge, a, b }) {
    const { pen } = this;
    pen.moveTo(a.x, a.y);
    if (edge.loop) {
      const [wide, high] = this.loop(edge, a);
      pen.bezierCurveTo(a.x - wide, a.y - high, a.x + wide, a.y - high, b.x, b.y);
    } else if (edge.bend) {
      const control = this.control(edge, a, b);
      pen.quadraticCurveTo(control.x, control.y, b.x, b.y);
    } else pen.lineTo(b.x, b.y);
  }

  loop({ loop }, { r }) {
    const size = r * 2 + (14 + 9 * loop) * Math.min(this.camera.scale, 2);
    return [size * 0.8, size * 1.25];
  }

  /** The point that bends an edge, to the same side for both directions. */
  control({ from, to, bend }, a, b) {
    const [dx, dy] = from < to ? [b.x - a.x, b.y - a.y] : [a.x - b.x, a.y - b.y];
    const far = Math.hypot(dx, dy) || 1;
    const away = bend * this.camera.scale;
    return { x: (a.x + b.x) / 2 - (dy / far) * away, y: (a.y + b.y) / 2 + (dx / far) * away };
  }

  drawArrows(curves) {
    const { pen } = this;
    const size = ARROW * Math.min(Math.max(this.camera.scale, 0.55), 1.3);
    for (let start = 0; start < curves.length; start += LINES_AT_ONCE) {
      pen.beginPath();
      curves.slice(start, start + LINES_AT_ONCE).forEach(curve => this.traceArrow(curve, size));
      pen.fill();
    }
  }

  traceArrow({ edge, a, b }, size) {
    const { pen } = this;
    if (!edge.loop && Math.hypot(b.x - a.x, b.y - a.y) - a.r - b.r < ARROW_LENGTH - ARROW) return;
    let before = a;
    if (edge.loop) {
      const [wide, high] = this.loop(edge, a);
      before = { x: a.x + wide, y: a.y - high };
    } else if (edge.bend) before = this.control(edge, a, b);
    const far = Math.hypot(b.x - before.x, b.y - before.y) || 1;
    const [ux, uy] = [(b.x - before.x) / far, (b.y - before.y) / far];
    const [x, y] = [b.x - ux * (b.r + 0.5), b.y - uy * (b.r + 0.5)];
    pen.moveTo(x, y);
    pen.lineTo(x - ux * size - uy * size * 0.42, y - uy * size + ux * size * 0.42);
    pen.lineTo(x - ux * size + uy * size * 0.42, y - uy * size - ux * size * 0.42);
    pen.closePath();
  }

  drawNodes() {
    const { pen, scene, style } = this;
    pen.lineWidth = 1;
    pen.strokeStyle = style.paper;
    for (const [color, nodes] of scene.colors.nodes) {
      const isLit = node => !scene.lit || scene.lit.has(node.index);
      for (const lit of scene.lit ? [false, true] : [true]) {
        const seen = nodes.filter(node => isLit(node) === lit && this.isSeen(this.places[node.index]));
        pen.globalAlpha = lit ? 1 : DIM;
        pen.fillStyle = color;
        pen.beginPath();
        for (const { index } of seen) this.circle(this.places[index]);
        pen.fill();
        if (this.camera.scale > 0.3) pen.stroke();
      }
    }
    pen.globalAlpha = 1;
    this.drawMarks();
  }

  /** Rings around nodes that are pinned, found or chosen. */
  drawMarks() {
    const { pen, scene, style } = this;
    const ring = (nodes, color, width, more) => {
      pen.strokeStyle = color;
      pen.lineWidth = width;
      pen.beginPath();
      for (const node of nodes) {
        const place = this.places[node.index];
        if (this.isSeen(place)) this.circle({ ...place, r: place.r + more });
      }
      pen.stroke();
    };
    ring(this.nodes.filter(node => node.pinned), style.ink, 1.5, 0);
    ring(scene.found.filter(node => node !== scene.chosen), style.found, 2.5, 2.5);
    if (scene.chosen) ring([scene.chosen], style.ink, 2.5, 4);
  }

  circle({ x, y, r }) {
    this.pen.moveTo(x + r, y);
    this.pen.arc(x, y, r, 0, 2 * Math.PI);
  }

  isSeen({ x, y, r }) {
    return x > -r && y > -r && x < this.camera.width + r && y < this.camera.height + r;
  }

  /** Writes names where they fit: of what is chosen and found first, then of nodes with many edges, then of edges. */
  drawLabels() {
    const { pen, scene, style } = this;
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.lineJoin = 'round';
    pen.lineWidth = 3;
    const all = [...this.nodeLabels(), ...this.edgeLabels()];
    for (const label of choose(all, MAX_LABELS)) {
      pen.font = label.font;
      pen.strokeStyle = style.paper;
      pen.fillStyle = label.isEdge ? style.faint : style.ink;
      pen.strokeText(label.text, label.x, label.y);
      pen.fillText(label.text, label.x, label.y);
    }
    scene.labelled?.();
  }

  nodeLabels() {
    const { scene, pen } = this;
    pen.font = FONT;
    const first = [...(scene.chosen ? [scene.chosen] : []), ...scene.found];
    const wanted = scene.lit ? scene.byDegree.filter(node => scene.lit.has(node.index)) : scene.byDegree;
    const labels = [];
    for (const node of new Set([...first, ...wanted])) {
      const place = this.places[node.index];
      if (!this.isSeen(place)) continue;
      const text = short(node.name);
      node.width ??= pen.measureText(text).width;
      const width = node.width + 6;
      const aside = place.r + 2 + width / 2;
      const [above, below] = [[0, -place.r - 9], [0, place.r + 9]];
      // Loops are above their node.
      const ways = [...(node.looped ? [below, above] : [above, below]), [aside, 0], [-aside, 0]];
      const places = ways.map(([x, y]) => ({ x: place.x + x, y: place.y + y }));
      labels.push({ text, places, width, height: 15, font: FONT });
      // Those with the fewest edges find no place anyway.
      if (labels.length >= MAX_LABELS * 6) break;
    }
    return labels;
  }

  edgeLabels() {
    const { scene, pen } = this;
    const named = scene.data.label < 0 ? [] : scene.data.edges.filter(edge => edge.name && this.isLit(edge));
    const seen = named.map(edge => this.curve(edge)).filter(Boolean).filter(({ edge, a, b }) => (
      edge.loop || Math.hypot(b.x - a.x, b.y - a.y) > 34
    ));
    if (seen.length > MAX_EDGE_LABELS * 4) return [];
    pen.font = EDGE_FONT;
    return seen.map(curve => {
      const text = short(curve.edge.name);
      curve.edge.width ??= pen.measureText(text).width;
      return { places: this.along(curve), text, width: curve.edge.width + 4, height: 13, font: EDGE_FONT, isEdge: true };
    });
  }

  /** Places on an edge, from its middle on. */
  along({ edge, a, b }) {
    if (edge.loop) {
      const [wide, high] = this.loop(edge, a);
      return [[0, 0.75], [0.6, 0.6], [-0.6, 0.6], [0, 1]].map(([x, y]) => ({ x: a.x + x * wide, y: a.y - y * high }));
    }
    const control = edge.bend ? this.control(edge, a, b) : { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    const at = (part, name) => (1 - part) ** 2 * a[name] + 2 * part * (1 - part) * control[name] + part ** 2 * b[name];
    return [0.5, 0.36, 0.64].map(part => ({ x: at(part, 'x'), y: at(part, 'y') }));
  }
}
