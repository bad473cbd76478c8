// The scripts that run on the server, by whomever, with buttons that stop them.

import { listRunning, stopRunning, wasStopped } from './api.js';
import { announce, at, button, element } from './dom.js';
import { duration } from './values.js';

const EVERY_MS = 1500;
/** Of a longer text the beginning is shown, unless it is asked for. */
const MAX_TEXT = 400;

export class Running {
  /** `load({script})` puts a script into the editor. */
  constructor(load) {
    [this.load, this.timer] = [load, null];
    at('running-refresh').addEventListener('click', () => this.look());
  }

  /** Looks again and again while the list is in sight. */
  watch(inSight) {
    clearInterval(this.timer);
    this.timer = inSight ? setInterval(() => document.hidden || this.look(), EVERY_MS) : null;
    if (inSight) this.look();
  }

  async look() {
    try {
      const scripts = await listRunning();
      at('running-empty').hidden = scripts.length > 0;
      at('running-problem').textContent = '';
      this.draw(scripts);
    } catch (error) {
      if (!wasStopped(error)) at('running-problem').textContent = error.message;
    }
  }

  draw(scripts) {
    const list = at('running-list');
    const known = new Map([...list.children].map(item => [item.dataset.id, item]));
    // Items that stay are not touched: one of them may have the focus.
    known.forEach((item, id) => scripts.some(script => String(script.id) === id) || item.remove());
    for (const script of scripts) {
      const item = known.get(String(script.id)) ?? this.item(script);
      if (!item.isConnected) list.append(item);
      item.querySelector('.elapsed').textContent = duration(script.seconds);
    }
  }

  item({ id, script, client, agent }) {
    const name = `script ${id}`;
    const shown = script && `${script.trim().slice(0, MAX_TEXT)}${script.trim().length > MAX_TEXT ? '…' : ''}`;
    return element('li', { dataset: { id } },
      element('div', { class: 'running-head' }, element('span', {}, name), element('span', { class: 'elapsed' }),
        button('Stop', () => this.stop(id), { 'aria-label': `Stop ${name}` })),
      script && element('button', {
        type: 'button', class: 'running-script code', title: 'Put it into the editor', click: () => this.load({ script }),
      }, shown),
      // Whoever may only read learns nothing of others.
      (client || agent) && element('div', { class: 'running-client note' }, [client, agent].filter(Boolean).join(' · ')));
  }

  async stop(id) {
    try {
      await stopRunning(id);
      announce(`stopping script ${id}`);
    } catch (error) {
      announce(error.message);
    }
    this.look();
  }
}
