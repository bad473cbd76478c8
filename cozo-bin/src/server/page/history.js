// The scripts that were run, kept by the browser.

import { at, button, element } from './dom.js';
import { local } from './storage.js';

const MOST = 200;
/** Longer scripts would fill what browsers keep for a site. */
const MOST_LENGTH = 20_000;

export class History {
  /** `load({script, parameters})` puts an entry into the editor. */
  constructor(load) {
    this.load = load;
    this.entries = local.read('history', []);
    at('history-filter').addEventListener('input', () => this.draw());
    at('history-clear').addEventListener('click', () => {
      this.entries = [];
      this.keep();
    });
    this.draw();
  }

  /** Notes a script with what came of it. */
  add({ script, parameters, outcome, failed }) {
    if (!script.trim() || script.length > MOST_LENGTH) return;
    // Other tabs add to the same history.
    const others = local.read('history', []).filter(entry => entry.script !== script || entry.parameters !== parameters);
    this.entries = [{ script, parameters, outcome, failed, time: Date.now() }, ...others].slice(0, MOST);
    this.keep();
  }

  keep() {
    local.write('history', this.entries.length ? this.entries : null);
    this.draw();
  }

  draw() {
    const wanted = at('history-filter').value.trim().toLowerCase();
    const shown = this.entries.filter(({ script }) => script.toLowerCase().includes(wanted));
    at('history-empty').hidden = shown.length > 0;
    at('history-list').replaceChildren(...shown.map(entry => element('li', {}, element(
      'button', { type: 'button', class: 'history-entry', title: 'Put it into the editor', click: () => this.load(entry) },
      element('span', { class: 'history-script code' }, entry.script.trim().slice(0, 300)),
      element('span', { class: `history-outcome ${entry.failed ? 'problem' : ''}` }, `${ago(entry.time)} · ${entry.outcome}`),
    ), button('×', () => {
      this.entries = this.entries.filter(other => other !== entry);
      this.keep();
    }, { class: 'quiet', 'aria-label': 'Forget it', title: 'Forget it' }))));
  }
}

function ago(time) {
  const then = new Date(time);
  const isToday = then.toDateString() === new Date().toDateString();
  return isToday ? then.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) : then.toLocaleDateString();
}
