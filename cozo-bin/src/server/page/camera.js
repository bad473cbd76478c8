// What part of a graph is seen: a place of it in the middle of the picture, and how many pixels one of its units has.

const CLOSEST = 12;
const FARTHEST = 0.01;
/** Small graphs are not blown up. */
const FITTED = 1.5;
const BORDER = 36;

export class Camera {
  constructor() {
    [this.x, this.y, this.scale, this.width, this.height] = [0, 0, 1, 1, 1];
  }

  /** The size of the picture in pixels. */
  resize(width, height) {
    [this.width, this.height] = [Math.max(width, 1), Math.max(height, 1)];
  }

  /** Where in the picture a place of the graph is. */
  toPicture({ x, y }) {
    return { x: (x - this.x) * this.scale + this.width / 2, y: (y - this.y) * this.scale + this.height / 2 };
  }

  toGraph({ x, y }) {
    return { x: (x - this.width / 2) / this.scale + this.x, y: (y - this.height / 2) / this.scale + this.y };
  }

  /** Moves the picture by pixels. */
  pan(right, down) {
    this.x -= right / this.scale;
    this.y -= down / this.scale;
  }

  /** Makes all so many times as large; a place of the picture stays where it is. */
  zoom(factor, place = { x: this.width / 2, y: this.height / 2 }) {
    const fixed = this.toGraph(place);
    this.scale = Math.min(CLOSEST, Math.max(FARTHEST, this.scale * factor));
    const moved = this.toGraph(place);
    this.x += fixed.x - moved.x;
    this.y += fixed.y - moved.y;
  }

  /** Shows all of these nodes. */
  fit(nodes) {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const { x, y } of nodes) {
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
    if (left > right) return;
    [this.x, this.y] = [(left + right) / 2, (top + bottom) / 2];
    const [wide, high] = [Math.max(this.width - 2 * BORDER, 40), Math.max(this.height - 2 * BORDER, 40)];
    this.scale = Math.max(FARTHEST, Math.min(wide / (right - left || 1), high / (bottom - top || 1), FITTED));
  }

  /** Shows a node in the middle, and close enough to read its name. */
  show({ x, y }) {
    [this.x, this.y, this.scale] = [x, y, Math.max(this.scale, 0.8)];
  }
}
