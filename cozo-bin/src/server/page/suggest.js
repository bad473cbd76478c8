// The list of what the word before the cursor may become, beside the cursor.

import { at, element } from './dom.js';

export class Suggestions {
  /** `accept(from, insert)` puts a choice in the place of the text from there to the cursor. */
  constructor(input, accept) {
    this.input = input;
    this.accept = accept;
    this.list = at('suggestions');
    this.note = at('suggestion-note');
    this.box = at('suggestion-box');
    this.close();
    // The cursor stays in the editor.
    this.box.addEventListener('mousedown', event => event.preventDefault());
    this.list.addEventListener('click', event => {
      const option = event.target.closest('[role=option]');
      if (option) this.choose(Number(option.dataset.index));
    });
  }

  get isOpen() {
    return !this.box.hidden;
  }

  /**
   * Shows items below a place on the screen; none close the list. Where nobody asked for them, the first is not selected, so
   * that Enter still begins a new line.
   */
  show({ from, items }, { left, top, bottom }, asked) {
    if (!items.length) {
      this.close();
      return;
    }
    [this.from, this.items] = [from, items];
    this.list.replaceChildren(...items.map((item, i) => element(
      'li', { role: 'option', id: `suggestion-${i}`, dataset: { index: i }, class: `suggestion ${item.kind}` },
      element('span', { class: 'suggestion-name' }, item.name),
      element('span', { class: 'suggestion-detail' }, item.detail || item.kind),
    )));
    this.box.hidden = false;
    this.select(asked ? 0 : -1);
    const { width, height } = this.box.getBoundingClientRect();
    const below = bottom + height < innerHeight || top < height;
    this.box.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 8))}px`;
    this.box.style.top = `${below ? bottom + 4 : top - height - 4}px`;
  }

  close() {
    this.box.hidden = true;
    this.items = [];
    this.input.removeAttribute('aria-activedescendant');
  }

  /** Selects an item; -1 is none. */
  select(index) {
    this.list.querySelector('[aria-selected=true]')?.removeAttribute('aria-selected');
    this.selected = index;
    this.note.hidden = true;
    if (index < 0) return;
    const option = this.list.children[this.selected];
    option.setAttribute('aria-selected', 'true');
    option.scrollIntoView({ block: 'nearest' });
    this.input.setAttribute('aria-activedescendant', option.id);
    this.note.textContent = this.items[this.selected].doc ?? '';
    this.note.hidden = !this.note.textContent;
  }

  choose(index) {
    const item = this.items[index];
    this.close();
    this.accept(this.from, item.insert ?? item.name);
  }

  /** Handles a key, if it is one for an open list. */
  key(event) {
    if (!this.isOpen || event.ctrlKey || event.metaKey || event.altKey) return false;
    switch (event.key) {
      case 'ArrowDown': this.select((this.selected + 1) % this.items.length); break;
      case 'ArrowUp': this.select(this.selected > 0 ? this.selected - 1 : this.items.length - 1); break;
      case 'Tab': this.choose(Math.max(0, this.selected)); break;
      case 'Enter':
        if (this.selected < 0) return false;
        this.choose(this.selected);
        break;
      case 'Escape': this.close(); break;
      default: return false;
    }
    event.preventDefault();
    return true;
  }
}
