// What fingers, mice and pens do with a picture: they drag things or all of it, pinch, turn the wheel, and click.

/** A pointer that moves less has not moved, in pixels. */
const STILL = 4;

/**
 * Listens to an element. `to` has `pick(place)`, what is there or nothing, `grabbed(thing, place)`, `released(thing)`, `pan(right, down)`,
 * `zoom(factor, place)`, `clicked(thing)`, `doubleClicked(thing)`, and `hovered(thing)`; places are pixels of the element.
 */
export class Gestures {
  constructor(element, to) {
    Object.assign(this, { element, to, pointers: new Map(), thing: null, moved: false });
    const listen = (name, handle) => element.addEventListener(name, handle);
    listen('pointerdown', event => this.down(event));
    listen('pointermove', event => this.move(event));
    listen('pointerup', event => this.up(event, true));
    listen('pointercancel', event => this.up(event, false));
    listen('dblclick', event => to.doubleClicked(to.pick(this.place(event))));
    listen('pointerleave', () => this.pointers.size || to.hovered(null));
    listen('wheel', event => this.wheel(event));
  }

  place({ clientX, clientY }) {
    const { left, top } = this.element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  down(event) {
    if (event.button > 0) return;
    this.element.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.place(event));
    if (this.pointers.size > 1) {
      // A second finger pinches, and whatever the first one held is let go.
      if (this.moved && this.thing) this.to.released(this.thing);
      [this.thing, this.moved] = [null, true];
      return;
    }
    [this.thing, this.moved, this.start] = [this.to.pick(this.place(event)), false, this.place(event)];
  }

  move(event) {
    const place = this.place(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === 'mouse') this.to.hovered(this.to.pick(place));
      return;
    }
    if (this.pointers.size > 1) this.pinch(event.pointerId, before, place);
    else {
      this.moved ||= Math.hypot(place.x - this.start.x, place.y - this.start.y) > STILL;
      if (!this.moved) return;
      if (this.thing) this.to.grabbed(this.thing, place);
      else this.to.pan(place.x - before.x, place.y - before.y);
    }
    this.pointers.set(event.pointerId, place);
  }

  pinch(id, before, place) {
    const [, other] = [...this.pointers].find(([key]) => key !== id);
    const apart = from => Math.hypot(from.x - other.x, from.y - other.y) || 1;
    this.to.pan((place.x - before.x) / 2, (place.y - before.y) / 2);
    this.to.zoom(apart(place) / apart(before), { x: (place.x + other.x) / 2, y: (place.y + other.y) / 2 });
  }

  up(event, counts) {
    if (!this.pointers.delete(event.pointerId) || this.pointers.size) return;
    const { thing, moved } = this;
    if (moved && thing) this.to.released(thing);
    if (!moved && counts) this.to.clicked(thing);
  }

  wheel(event) {
    event.preventDefault();
    // Some browsers count lines or pages, and pinches on a touchpad come as small turns.
    const pixels = event.deltaY * [1, 16, 200][event.deltaMode];
    this.to.zoom(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0015)), this.place(event));
  }
}
