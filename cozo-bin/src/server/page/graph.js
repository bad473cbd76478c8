// A result as a graph: two columns are the ends of edges, another one may be what stands at them.

import { Camera } from './camera.js';
import { button, element, say } from './dom.js';
import { saveBlob, save } from './export.js';
import { Gestures } from './gestures.js';
import { colorings, legend, paint } from './graph_colors.js';
import { GraphData } from './graph_data.js';
import { graphKey } from './graph_keys.js';
import { Painter, radius } from './graph_paint.js';
import { NodePanel } from './graph_node.js';
import { Layout } from './layout.js';
import { SvgPen } from './svg_pen.js';
import { counted } from './values.js';

/** How long the layout may keep the page from answering, in milliseconds: before the first drawing, and between two. */
const FIRST_MS = 120;
const FRAME_MS = 9;
const MAX_FRAME_MS = 30;
/** While more edges move, they have no arrows and no labels. */
const MAX_MOVING_DETAILS = 3000;
const REST_MS = 160;
/** Pictures are saved in twice the size at least, to be sharp in print. */
const SAVED_SCALE = 2;
const REACH = 5;
/** In narrower pictures the panel lies over the lower part. */
const NARROW = 560;
const HELP = 'Enter chooses the node in the middle or looks at its values, arrow keys go from node to node or move the picture, '
  + 'plus and minus zoom, 0 shows all, e expands the chosen node, p pins it or lets it go, Escape lets go of the choice.';

/** The view of a result with at least two columns. `source` knows the relations: `names` and `schema(name)`. */
export class Graph {
  constructor({ headers, rows }, source) {
    Object.assign(this, { headers, rows, camera: new Camera(), chosen: null, hovered: null, found: [], moved: false });
    this.makeChoices();
    this.note = element('span', { class: 'note graph-size' });
    this.legend = element('div', { class: 'graph-legend', role: 'group', 'aria-label': 'Colors' });
    this.probe = element('span', { hidden: true });
    const help = element('p', { class: 'off-screen', id: `graph-help-${Graph.count = (Graph.count ?? 0) + 1}` }, HELP);
    this.canvas = element('canvas', {
      class: 'graph', role: 'application', 'aria-roledescription': 'graph', tabindex: 0, 'aria-describedby': help.id,
      keydown: event => graphKey(this, event),
    });
    this.panel = new NodePanel(this, source);
    this.stage = element('div', { class: 'graph-stage' }, this.canvas, this.legend, this.panel.view, this.probe);
    this.view = element('div', { class: 'graph-view' }, this.bar(), this.stage, help);
    new Gestures(this.canvas, this.gestures());
    new ResizeObserver(() => this.resize()).observe(this.stage);
    const repaint = () => this.draw();
    new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ['data-theme'] });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  }

  makeChoices() {
    const options = this.headers.map((header, i) => element('option', { value: i }, header));
    const choice = (label, value, entries, change) => {
      const select = element('select', { change }, entries);
      select.value = value;
      return { select, label: element('label', {}, `${label} `, select) };
    };
    const copies = () => options.map(option => option.cloneNode(true));
    const load = () => this.load();
    const labels = [element('option', { value: -1 }, 'none'), ...copies()];
    const groups = colorings(this.headers).map(({ label, options: listed }) => (
      element('optgroup', { label }, listed.map(({ value, text }) => element('option', { value }, text)))
    ));
    this.choices = {
      from: choice('From', 0, copies(), load),
      to: choice('To', 1, copies(), load),
      label: choice('Label', this.headers.length > 2 ? 2 : -1, labels, load),
      color: choice('Color', 'component', groups, () => this.recolor()),
    };
  }

  bar() {
    this.search = element('input', {
      type: 'search', placeholder: 'Find a node', 'aria-label': 'Find a node', input: () => this.find(), keydown: event => {
        if (event.key === 'Enter') this.next(event.shiftKey ? -1 : 1);
      },
    });
    this.unpin = button('Unpin all', () => this.unpinAll(), { title: 'Let go of the nodes that were dragged', hidden: true });
    this.foundNote = element('span', { class: 'note', role: 'status' });
    return element('div', { class: 'view-bar' },
      Object.values(this.choices).map(({ label }) => label), this.search, this.foundNote,
      button('Fit', () => this.fit(), { title: 'Show all of the graph: 0' }),
      this.unpin,
      button('PNG', () => this.savePng(), { title: 'Save the picture as PNG' }),
      button('SVG', () => this.saveSvg(), { title: 'Save the picture as SVG' }),
      this.note);
  }

  gestures() {
    return {
      pick: place => this.pick(place),
      hovered: node => this.hover(node),
      clicked: node => this.choose(node),
      doubleClicked: node => node && this.pin(node, !node.pinned),
      grabbed: (node, place) => this.drag(node, place),
      released: () => this.run(),
      pan: (right, down) => this.look(() => this.camera.pan(right, down)),
      zoom: (factor, place) => this.look(() => this.camera.zoom(factor, place)),
    };
  }

  /** Is called when the view is seen. */
  show() {
    this.resize();
    if (!this.data) this.load();
  }

  /** Makes the graph of the rows as the choices are. */
  load() {
    const [from, to, label] = ['from', 'to', 'label'].map(name => Number(this.choices[name].select.value));
    this.data = new GraphData({ from, to, label });
    Object.assign(this, { chosen: null, hovered: null, moved: false });
    this.grow(this.rows);
    this.panel.close();
    this.unpin.hidden = true;
    this.layout.advance(FIRST_MS);
    this.layout.level();
    this.fit();
    this.run();
  }

  /** Adds rows to the graph; returns how many nodes and edges are new. */
  grow(rows) {
    const { nodes, edges } = this.data;
    const [oldNodes, oldEdges] = [nodes.length, edges.length];
    this.data.add(rows);
    const { width, height } = this.camera;
    this.layout = new Layout(this.data, width / height);
    this.byDegree = [...nodes].sort((a, b) => b.degree - a.degree || a.index - b.index);
    const what = `${counted(nodes.length, 'node')}, ${counted(edges.length, 'edge')}`;
    this.note.textContent = this.data.left ? `${what}; ${counted(this.data.left, 'row')} more than can be drawn` : what;
    this.canvas.setAttribute('aria-label', `A graph of ${what}`);
    this.recolor();
    this.find();
    return { nodes: nodes.length - oldNodes, edges: edges.length - oldEdges };
  }

  recolor() {
    this.colors = paint(this.data, this.choices.color.select.value, this.headers);
    const shown = legend(this.colors);
    this.legend.hidden = !shown.length;
    this.legend.replaceChildren(...shown);
    this.draw();
  }

  /** Lets the layout go on until it is cold, a slice in each frame. */
  run() {
    const { layout } = this;
    delete this.canvas.dataset.settled;
    if (this.isRunning === layout) return;
    this.isRunning = layout;
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const frame = () => {
      // The view may be gone, or show another graph.
      if (!this.canvas.isConnected || layout !== this.layout) return;
      // The layout gets as much time as the drawing takes, or it would take long where drawing is slow.
      layout.advance(Math.min(Math.max(FRAME_MS, this.painted ?? 0), MAX_FRAME_MS));
      if (!isCalm || layout.isCold) {
        if (this.moved) this.drawMoving();
        else this.fit(false);
      }
      if (!layout.isCold) requestAnimationFrame(frame);
      else this.settle();
    };
    requestAnimationFrame(frame);
  }

  settle() {
    this.isRunning = null;
    this.canvas.dataset.settled = 'true';
    this.draw();
  }

  resize() {
    const { clientWidth, clientHeight } = this.stage;
    if (!clientWidth || !clientHeight) return;
    const scale = window.devicePixelRatio || 1;
    this.camera.resize(clientWidth, clientHeight);
    [this.canvas.width, this.canvas.height] = [Math.round(clientWidth * scale), Math.round(clientHeight * scale)];
    if (this.data && !this.moved) this.camera.fit(this.data.nodes);
    this.paint();
  }

  /** Draws with the next frame. */
  draw(details = true) {
    this.details = details;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.paint();
    });
  }

  /** Draws what is moving; when it rests, with all details. */
  drawMoving() {
    const isLarge = this.data.edges.length > MAX_MOVING_DETAILS;
    this.draw(!isLarge);
    clearTimeout(this.rest);
    if (isLarge) this.rest = setTimeout(() => this.draw(), REST_MS);
  }

  paint() {
    if (!this.data || !this.canvas.clientWidth) return;
    const began = performance.now();
    const pen = this.canvas.getContext('2d');
    const scale = this.canvas.width / this.camera.width;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    new Painter(pen, this.scene(), this.camera, this.style()).draw(this.details);
    this.painted = performance.now() - began;
  }

  scene() {
    const node = this.hovered ?? this.chosen;
    const { data, colors, chosen, found, byDegree } = this;
    return { data, colors, chosen, found, byDegree, center: node?.index, lit: node && data.around(node) };
  }

  /** The colors of the theme, as a canvas takes them. */
  style() {
    const color = name => {
      this.probe.style.color = `var(--${name})`;
      return getComputedStyle(this.probe).color;
    };
    const large = this.data.edges.length > MAX_MOVING_DETAILS;
    return {
      paper: color('paper'), ink: color('ink'), faint: color('faint'), accent: color('accent'), edge: color('edge'), found: color('time'),
      edgeAlpha: large ? 0.35 : 0.85,
    };
  }

  look(move) {
    move();
    this.moved = true;
    this.drawMoving();
  }

  /** Shows all of the graph, and goes on doing so if it moves. */
  fit(whole = true) {
    this.moved = false;
    this.camera.fit(this.data.nodes);
    if (whole) this.draw();
    else this.drawMoving();
  }

  /** The node at a place of the picture. */
  pick({ x, y }) {
    let [nearest, least] = [null, Infinity];
    const most = this.byDegree?.[0]?.degree ?? 1;
    for (const node of this.data?.nodes ?? []) {
      const place = this.camera.toPicture(node);
      const far = Math.hypot(place.x - x, place.y - y) - radius(node, this.camera, most);
      if (far < Math.min(REACH, least)) [nearest, least] = [node, far];
    }
    return nearest;
  }

  hover(node) {
    this.canvas.classList.toggle('over', Boolean(node));
    this.canvas.title = node?.name ?? '';
    if (node === this.hovered) return;
    this.hovered = node;
    this.drawMoving();
  }

  /** Shows what there is to know of a node; null shows none. */
  choose(node, isMoved = false) {
    this.chosen = node;
    if (node) this.panel.open(node);
    else this.panel.close();
    if (node && isMoved) this.look(() => this.bringUp(node));
    if (node) say(`${node.name}: ${counted(node.degree, 'edge')}`);
    this.draw();
  }

  /** Shows a node in the middle, or above the panel where that covers the middle. */
  bringUp(node) {
    this.camera.show(node);
    if (this.camera.width < NARROW) this.camera.pan(0, -this.panel.view.offsetHeight / 2);
  }

  drag(node, place) {
    const { x, y } = this.camera.toGraph(place);
    node.pinned = true;
    this.moved = true;
    this.layout.put(node, x, y);
    this.pinsChanged();
    this.drawMoving();
  }

  pin(node, pinned) {
    node.pinned = pinned;
    this.pinsChanged();
    say(`${node.name} is ${pinned ? 'pinned' : 'not pinned'}`);
    this.draw();
  }

  unpinAll() {
    for (const node of this.data.nodes) node.pinned = false;
    this.pinsChanged();
  }

  /** Lets the other nodes find their places anew. */
  pinsChanged() {
    this.unpin.hidden = !this.data.nodes.some(node => node.pinned);
    this.layout.warm();
    this.panel.refresh();
    this.run();
  }

  /** Marks the nodes that have the text of the search in their names. */
  find() {
    const wanted = this.search.value.trim().toLowerCase();
    this.found = wanted ? this.byDegree.filter(({ name }) => name.toLowerCase().includes(wanted)) : [];
    // Who writes a whole name means that node.
    this.found.sort((a, b) => (b.name.toLowerCase() === wanted) - (a.name.toLowerCase() === wanted));
    this.search.title = wanted ? 'Enter goes from one to the next' : '';
    this.foundNote.textContent = wanted ? `${this.found.length.toLocaleString('en')} found` : '';
    this.draw();
  }

  next(step) {
    if (!this.found.length) return;
    const here = this.found.indexOf(this.chosen);
    this.choose(this.found[(here + step + this.found.length) % this.found.length], true);
  }

  /** Adds rows about a node, near to it. */
  expand(rows) {
    const added = this.grow(rows.filter(row => !this.data.has(row)));
    this.layout.heat = 0.5;
    this.moved = true;
    this.run();
    return added;
  }

  savePng() {
    const { width, height } = this.camera;
    const scale = Math.max(SAVED_SCALE, window.devicePixelRatio || 1);
    const canvas = element('canvas', { width: Math.round(width * scale), height: Math.round(height * scale) });
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale);
    new Painter(pen, this.scene(), this.camera, this.style()).draw();
    canvas.toBlob(blob => saveBlob('graph.png', blob));
  }

  saveSvg() {
    const { width, height } = this.camera;
    const pen = new SvgPen(width, height, this.canvas.getContext('2d'));
    new Painter(pen, this.scene(), this.camera, this.style()).draw();
    save('graph.svg', 'image/svg+xml', pen.text());
  }
}
