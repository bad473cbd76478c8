// Rectangles beside each other, in rows.

/**
 * Places for rectangles `{width, height}` so that none overlap, in about `aspect` times as much room from left to right as from top to
 * bottom: the middles `{x, y}` of the rectangles, around 0.
 */
export function pack(boxes, aspect) {
  const order = boxes.map((_, i) => i).sort((a, b) => boxes[b].height - boxes[a].height || a - b);
  const area = boxes.reduce((sum, { width, height }) => sum + width * height, 0);
  const widest = boxes.reduce((most, { width }) => Math.max(most, width), 0);
  const limit = Math.max(widest, Math.sqrt(area * aspect) * 1.15);
  const places = [];
  let [x, y, high, wide] = [0, 0, 0, 0];
  for (const index of order) {
    const { width, height } = boxes[index];
    if (x > 0 && x + width > limit) [x, y, high] = [0, y + high, 0];
    places[index] = { x: x + width / 2, y: y + height / 2 };
    x += width;
    high = Math.max(high, height);
    wide = Math.max(wide, x);
  }
  return places.map(place => ({ x: place.x - wide / 2, y: place.y - (y + high) / 2 }));
}
