// The scripts that run on the server, by whomever, with buttons that stop them.

import { query, wasStopped } from './api.js';
import { announce, at, button, element } from './dom.js';
import { duration } from './values.js';

const EVERY_MS = 1500;

export class Running {
  constructor() {
    this.timer = null;
    at('running-refresh').addEventListener('click', () => this.load());
  }

  /** Looks again and again while the list is in sight. */
  watch(inSight) {
    clearInterval(this.timer);
    this.timer = inSight ? setInterval(() => document.hidden || this.load(), EVERY_MS) : null;
    if (inSight) this.load();
  }

  async load() {
    try {
      const { rows } = await query('::running');
      const scripts = rows.map(([id, started]) => ({ id: Number(id), started: Number(started) })).sort((a, b) => a.started - b.started);
      // The newest one is this very question; it also knows what time it is on the server.
      const now = scripts.pop()?.started ?? 0;
      at('running-empty').hidden = scripts.length > 0;
      at('running-problem').textContent = '';
      this.draw(scripts, now);
    } catch (error) {
      if (!wasStopped(error)) at('running-problem').textContent = error.message;
    }
  }

  draw(scripts, now) {
    const list = at('running-list');
    const known = new Map([...list.children].map(item => [item.dataset.id, item]));
    // Items that stay are not touched: one of them may have the focus.
    known.forEach((item, id) => scripts.some(script => String(script.id) === id) || item.remove());
    for (const { id, started } of scripts) {
      const item = known.get(String(id)) ?? this.item(id);
      if (!item.isConnected) list.append(item);
      item.querySelector('.elapsed').textContent = duration(Math.max(0, now - started));
    }
  }

  item(id) {
    return element('li', { dataset: { id } },
      element('span', {}, `script ${id}`), element('span', { class: 'elapsed' }),
      button('Kill', () => this.kill(id), { 'aria-label': `Kill script ${id}` }));
  }

  async kill(id) {
    try {
      const { rows } = await query(`::kill ${id}`);
      announce(rows[0]?.[0] === 'KILLING' ? `stopping script ${id}` : `script ${id} has ended already`);
    } catch (error) {
      announce(error.message);
    }
    this.load();
  }
}
