// The keys of a graph that has the focus.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const STEP = 60;
const CLOSER = 1.25;

/** Handles a key, if it is one for the graph. */
export function graphKey(graph, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const arrow = ARROWS[event.key];
  const handle = arrow ? () => move(graph, arrow, event.shiftKey) : keys[event.key];
  if (!handle) return;
  event.preventDefault();
  handle(graph);
}

const keys = {
  '+': graph => graph.look(() => graph.camera.zoom(CLOSER)),
  '=': graph => graph.look(() => graph.camera.zoom(CLOSER)),
  '-': graph => graph.look(() => graph.camera.zoom(1 / CLOSER)),
  0: graph => graph.fit(),
  Enter: graph => (graph.chosen ? graph.panel.focus() : graph.choose(inTheMiddle(graph), true)),
  Escape: graph => graph.choose(null),
  e: graph => graph.chosen && graph.panel.expand(),
  p: graph => graph.chosen && graph.pin(graph.chosen, !graph.chosen.pinned),
};

/** Goes to the next node in a direction, or moves the picture where no node is chosen, or the shift key is held. */
function move(graph, [right, down], isShifted) {
  const { chosen } = graph;
  if (!chosen || isShifted) {
    graph.look(() => graph.camera.pan(-right * STEP, -down * STEP));
    return;
  }
  const next = nearest(graph.data.nodes, node => {
    const [x, y] = [node.x - chosen.x, node.y - chosen.y];
    const ahead = x * right + y * down;
    const aside = Math.abs(x * down) + Math.abs(y * right);
    return ahead > 0 && aside <= ahead * 1.5 ? ahead + 2 * aside : Infinity;
  });
  if (next) graph.choose(next, true);
}

const inTheMiddle = ({ data, camera }) => nearest(data.nodes, ({ x, y }) => Math.hypot(x - camera.x, y - camera.y));

function nearest(nodes, distance) {
  let [found, least] = [null, Infinity];
  for (const node of nodes) {
    const far = distance(node);
    if (far < least) [found, least] = [node, far];
  }
  return found;
}
