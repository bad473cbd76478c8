// Which bodies push which: a tree of squares, in which a far square counts as one body.
//
// J. Barnes and P. Hut, A hierarchical O(N log N) force-calculation algorithm, Nature 324 (1986).

/** A square that is seen under a smaller angle counts as one body; its tangent, squared. */
const SMALL_ANGLE = 0.81;
/** Bodies that are closer push as if they were so far apart, squared: else they would fly away. */
const MIN_DISTANCE = 9;
/** Squares are not divided further: bodies in one of them are at one place. */
const MAX_DEPTH = 40;
const NONE = -1;

/** A child of a square is `NONE`, another square, or a body; bodies are numbered from here downwards. */
const body = index => -2 - index;

export class Quadtree {
  constructor(bodies) {
    this.reserve(Math.max(64, bodies * 2));
    /** The next body at the same place. */
    this.next = new Int32Array(bodies);
    this.stack = new Int32Array(4 * MAX_DEPTH + 16);
  }

  reserve(squares) {
    const grown = (array, size) => {
      const made = new array.constructor(size);
      made.set(array);
      return made;
    };
    this.children = grown(this.children ?? new Int32Array(0), squares * 4);
    for (const name of ['mass', 'x', 'y', 'width']) this[name] = grown(this[name] ?? new Float64Array(0), squares);
    this.room = squares;
  }

  /** Builds the tree of the bodies at places `x[i]`, `y[i]` for `i` from `start` to `end`. */
  build(x, y, start, end) {
    [this.xs, this.ys] = [x, y];
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = start; i < end; i += 1) {
      left = Math.min(left, x[i]);
      right = Math.max(right, x[i]);
      top = Math.min(top, y[i]);
      bottom = Math.max(bottom, y[i]);
    }
    this.count = 0;
    this.size = Math.max(right - left, bottom - top, 1) * 1.001;
    [this.left, this.top] = [left, top];
    this.square(this.size);
    for (let i = start; i < end; i += 1) this.insert(i);
    for (let i = 0; i < this.count; i += 1) {
      this.x[i] /= this.mass[i];
      this.y[i] /= this.mass[i];
    }
  }

  square(width) {
    if (this.count === this.room) this.reserve(this.room * 2);
    const made = this.count;
    this.count += 1;
    this.children.fill(NONE, made * 4, made * 4 + 4);
    this.mass[made] = this.x[made] = this.y[made] = 0;
    this.width[made] = width;
    return made;
  }

  load(square, index, mass) {
    this.mass[square] += mass;
    this.x[square] += mass * this.xs[index];
    this.y[square] += mass * this.ys[index];
  }

  insert(index) {
    const { xs, ys, next } = this;
    const [x, y] = [xs[index], ys[index]];
    let [square, left, top, width] = [0, this.left, this.top, this.size];
    next[index] = NONE;
    for (let depth = 0; ; depth += 1) {
      this.load(square, index, 1);
      width /= 2;
      const [isRight, isLow] = [x >= left + width ? 1 : 0, y >= top + width ? 1 : 0];
      left += isRight * width;
      top += isLow * width;
      const place = square * 4 + isRight + 2 * isLow;
      const there = this.children[place];
      if (there >= 0) square = there;
      else if (there === NONE || depth >= MAX_DEPTH) {
        next[index] = there === NONE ? NONE : -2 - there;
        this.children[place] = body(index);
        return;
      } else square = this.divide(place, -2 - there, left, top, width);
    }
  }

  /** Puts a square in the place of a body, which goes into one of its quarters. */
  divide(place, other, left, top, width) {
    const made = this.square(width);
    this.children[place] = made;
    let mass = 0;
    for (let i = other; i !== NONE; i = this.next[i]) mass += 1;
    this.load(made, other, mass);
    const half = width / 2;
    const quarter = (this.xs[other] >= left + half ? 1 : 0) + (this.ys[other] >= top + half ? 2 : 0);
    this.children[made * 4 + quarter] = body(other);
    return made;
  }

  /** Adds to `dx[index]` and `dy[index]` how all other bodies push one. */
  push(index, strength, dx, dy) {
    const { xs, ys, children, stack, next } = this;
    const [x, y] = [xs[index], ys[index]];
    let [sumX, sumY, top] = [0, 0, 0];
    stack[top++] = 0;
    while (top > 0) {
      const square = stack[--top];
      const [wayX, wayY] = [x - this.x[square], y - this.y[square]];
      const far = wayX * wayX + wayY * wayY;
      if (this.width[square] * this.width[square] < SMALL_ANGLE * far) {
        const push = (strength * this.mass[square]) / Math.max(far, MIN_DISTANCE);
        sumX += wayX * push;
        sumY += wayY * push;
        continue;
      }
      for (let quarter = square * 4; quarter < square * 4 + 4; quarter += 1) {
        const child = children[quarter];
        if (child >= 0) stack[top++] = child;
        else if (child !== NONE) {
          for (let other = -2 - child; other !== NONE; other = next[other]) {
            if (other === index) continue;
            // Bodies at one place part in some direction, always the same.
            const [apartX, apartY] = [x - xs[other] || (index - other) * 1e-3, y - ys[other]];
            const push = strength / Math.max(apartX * apartX + apartY * apartY, MIN_DISTANCE);
            sumX += apartX * push;
            sumY += apartY * push;
          }
        }
      }
    }
    dx[index] += sumX;
    dy[index] += sumY;
  }
}
