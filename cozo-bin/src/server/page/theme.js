// Light and dark: as the system has it, until the user says otherwise.

import { at } from './dom.js';
import { local } from './storage.js';

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

export function start() {
  let chosen = local.read('theme', null);
  const draw = () => {
    const isDark = chosen ? chosen === 'dark' : systemIsDark.matches;
    if (chosen) document.documentElement.dataset.theme = chosen;
    else delete document.documentElement.dataset.theme;
    at('theme').setAttribute('aria-pressed', String(isDark));
    at('theme').title = isDark ? 'Use light colors' : 'Use dark colors';
  };
  at('theme').addEventListener('click', () => {
    const wanted = (chosen ?? (systemIsDark.matches ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
    // What the system has anyway is not kept, so that the page follows it again.
    chosen = (wanted === 'dark') === systemIsDark.matches ? null : wanted;
    local.write('theme', chosen);
    draw();
  });
  systemIsDark.addEventListener('change', draw);
  draw();
}
