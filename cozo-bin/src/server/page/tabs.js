// Tabs, as keyboards and screen readers expect them.

import { element } from './dom.js';

/**
 * A row of tabs for panels: `[{label, panel}]`. Arrow keys move between them. `shown(index)` is told which one is shown.
 */
export function tabs(label, entries, { shown = () => {}, first = 0, className = 'tabs' } = {}) {
  const prefix = `tabs-${tabs.count = (tabs.count ?? 0) + 1}`;
  const buttons = entries.map(({ label: name, panel }, i) => {
    panel.id ||= `${prefix}-panel-${i}`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', `${prefix}-${i}`);
    return element('button', {
      type: 'button', role: 'tab', id: `${prefix}-${i}`, 'aria-controls': panel.id, click: () => select(i),
    }, name);
  });
  function select(index) {
    entries.forEach(({ panel }, i) => {
      panel.hidden = i !== index;
      buttons[i].setAttribute('aria-selected', String(i === index));
      buttons[i].tabIndex = i === index ? 0 : -1;
    });
    shown(index);
  }
  const list = element('div', {
    role: 'tablist', 'aria-label': label, class: className,
    keydown: event => {
      const here = buttons.indexOf(document.activeElement);
      const next = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: buttons.length - 1 }[event.key];
      if (here < 0 || next === undefined) return;
      event.preventDefault();
      const index = (next + buttons.length) % buttons.length;
      select(index);
      buttons[index].focus();
    },
  }, buttons);
  // Panels must be in the document before they are told that they are shown.
  queueMicrotask(() => select(first));
  return { list, select };
}
