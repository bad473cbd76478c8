// Which labels fit beside each other.

const CELL_WIDTH = 96;
const CELL_HEIGHT = 24;

/**
 * Those of the labels that do not cover one that comes before them; at most `limit`. A label is `{places, width, height}` in pixels, and
 * the most important ones come first. It gets its middle, `x` and `y`, at the first of its places that is free.
 */
export function choose(labels, limit) {
  const cells = new Map();
  const chosen = [];
  for (const label of labels) {
    if (chosen.length >= limit) break;
    const isFree = place => {
      Object.assign(label, place);
      return !keysOf(label).some(key => cells.get(key)?.some(other => overlap(label, other)));
    };
    if (!label.places.some(isFree)) continue;
    chosen.push(label);
    for (const key of keysOf(label)) {
      if (cells.has(key)) cells.get(key).push(label);
      else cells.set(key, [label]);
    }
  }
  return chosen;
}

function keysOf({ x, y, width, height }) {
  const keys = [];
  const right = Math.floor((x + width / 2) / CELL_WIDTH);
  const bottom = Math.floor((y + height / 2) / CELL_HEIGHT);
  for (let column = Math.floor((x - width / 2) / CELL_WIDTH); column <= right; column += 1) {
    for (let row = Math.floor((y - height / 2) / CELL_HEIGHT); row <= bottom; row += 1) keys.push(column * 65_536 + row);
  }
  return keys;
}

const overlap = (a, b) => (
  Math.abs(a.x - b.x) * 2 < a.width + b.width && Math.abs(a.y - b.y) * 2 < a.height + b.height
);
