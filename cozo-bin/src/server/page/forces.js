// A layout of a graph: nodes push each other away, edges pull, and all of it cools down.
//
// T. M. J. Fruchterman and E. M. Reingold, Graph drawing by force-directed placement, Software: Practice and Experience 21 (1991).

const COOLING = 0.985;
const COLDEST = 0.02;
/** The length that edges tend to. */
export const LENGTH = 70;

/** Places nodes `{x, y}` joined by edges `{from, to}`, which are indices, in an area that is `aspect` times as wide as high. */
export class Forces {
  constructor(nodes, edges, aspect = 1) {
    [this.nodes, this.edges] = [nodes, edges];
    this.flatness = Math.min(Math.max(aspect, 0.5), 3);
    // A spiral: no two nodes are at one place, and the same graph always looks the same.
    nodes.forEach((node, i) => {
      const [radius, angle] = [LENGTH * 0.6 * Math.sqrt(i + 0.5), i * 2.399963];
      Object.assign(node, { x: radius * Math.cos(angle), y: radius * Math.sin(angle), dx: 0, dy: 0, held: false });
    });
    this.heat = 1;
  }

  get isCold() {
    return this.heat < COLDEST;
  }

  warm() {
    this.heat = Math.max(this.heat, 0.3);
  }

  /** Turns the drawing so that it is widest from left to right. */
  level() {
    const sum = of => this.nodes.reduce((total, node) => total + of(node), 0);
    const angle = Math.atan2(2 * sum(({ x, y }) => x * y), sum(({ x, y }) => x * x - y * y)) / 2;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    for (const node of this.nodes) [node.x, node.y] = [node.x * cos + node.y * sin, node.y * cos - node.x * sin];
  }

  step() {
    const { nodes, edges } = this;
    for (const node of nodes) {
      // A weak pull to the middle keeps parts together that no edge joins.
      node.dx = -node.x * 0.03;
      node.dy = -node.y * 0.03 * this.flatness;
    }
    for (let i = 0; i < nodes.length; i += 1) {
      for (let j = i + 1; j < nodes.length; j += 1) {
        const [x, y] = [nodes[i].x - nodes[j].x, nodes[i].y - nodes[j].y];
        const push = (LENGTH * LENGTH) / Math.max(x * x + y * y, 25);
        nodes[i].dx += x * push;
        nodes[i].dy += y * push;
        nodes[j].dx -= x * push;
        nodes[j].dy -= y * push;
      }
    }
    for (const { from, to } of edges) {
      const [a, b] = [nodes[from], nodes[to]];
      const [x, y] = [a.x - b.x, a.y - b.y];
      const pull = Math.hypot(x, y) / LENGTH;
      a.dx -= x * pull;
      a.dy -= y * pull;
      b.dx += x * pull;
      b.dy += y * pull;
    }
    const most = LENGTH * this.heat;
    for (const node of nodes) {
      const far = Math.hypot(node.dx, node.dy);
      if (node.held || far === 0) continue;
      const part = (Math.min(far, most) / far) * 0.5;
      node.x += node.dx * part;
      node.y += node.dy * part;
    }
    this.heat *= COOLING;
  }
}
