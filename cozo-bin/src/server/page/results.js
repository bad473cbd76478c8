// What a script gave: a tab for each result of a chain, and for each the views that suit it.

import { at, button, element } from './dom.js';
import { copy, csv, json, save, tabbed } from './export.js';
import { Graph } from './graph.js';
import { Plan, isPlan } from './plan.js';
import { Table } from './table.js';
import { tabs } from './tabs.js';
import { lineAndColumn } from './spans.js';
import { counted, duration, text } from './values.js';

/** The results of a chain. */
export function chain(result) {
  const results = [];
  for (let part = result; part; part = part.next) results.push(part);
  return results;
}

/**
 * Shows the result of a script. `about` is `{elapsed, script, source}`: the seconds that the browser waited, what ran, and what knows
 * the relations.
 */
export function showResult(result, about) {
  const results = chain(result);
  const rows = results.reduce((sum, { rows: { length } }) => sum + length, 0);
  const several = results.length > 1 ? ` in ${results.length} results` : '';
  status(`${counted(rows, 'row')}${several} · ${duration(result.took)}`, `${duration(about.elapsed)} with the way here and back`);
  const panels = results.map(part => ({ panel: element('div', { class: 'result' }), part }));
  const shown = index => {
    const { panel, part } = panels[index];
    if (!panel.hasChildNodes()) panel.append(...views(part, about));
  };
  if (panels.length === 1) {
    at('results').replaceChildren(...warnings(result), panels[0].panel);
    shown(0);
    return;
  }
  const entries = panels.map(({ panel, part }, i) => ({ label: `${i + 1}: ${part.headers.join(', ').slice(0, 30)}`, panel }));
  const { list } = tabs('Results', entries, { shown, className: 'tabs results-tabs' });
  at('results').replaceChildren(...warnings(result), list, ...panels.map(({ panel }) => panel));
}

/** What the server warns of, above what it answers. */
function warnings({ warnings: texts }) {
  if (!Array.isArray(texts) || !texts.length) return [];
  return [element('ul', { class: 'warnings', role: 'status', 'aria-label': 'Warnings' }, texts.map(warning => (
    element('li', {}, typeof warning === 'string' ? warning : text(warning)))))];
}

/** The views of one result, with what can be done with it. */
function views(result, { script, source }) {
  const table = new Table(result);
  const panel = ({ view }) => element('div', { class: 'view' }, view);
  const entries = [{ label: 'Table', panel: panel(table), view: table }];
  if (isPlan(result)) {
    const plan = new Plan(result, script);
    entries.unshift({ label: 'Plan', panel: panel(plan), view: plan });
  } else if (result.headers.length >= 2 && result.rows.length) {
    const graph = new Graph(result, source);
    entries.push({ label: 'Graph', panel: panel(graph), view: graph });
  }
  const sorted = () => ({ headers: result.headers, rows: table.sortedRows() });
  const tools = element(
    'div', { class: 'tools' },
    element('span', { class: 'count' }, counted(result.rows.length, 'row')),
    button('Copy', () => copy(tabbed(sorted()), counted(result.rows.length, 'row')), { title: 'Copy all rows, for spreadsheets' }),
    button('CSV', () => save('result.csv', 'text/csv;charset=utf-8', csv(sorted())), { title: 'Download as CSV' }),
    button('JSON', () => save('result.json', 'application/json', json(sorted())), { title: 'Download as JSON' }),
    button('⤢', enlarge, {
      'aria-label': 'Enlarge the results', title: 'Enlarge the results',
      'aria-pressed': String(document.body.classList.contains('large')),
    }),
  );
  const shown = index => entries[index].view.show();
  const { list } = tabs('Views', entries, { shown, className: 'tabs views-tabs' });
  return [element('div', { class: 'result-bar' }, list, tools), ...entries.map(entry => entry.panel)];
}

/** Gives the place of the editor to the results, or gives it back. */
function enlarge() {
  const isLarge = document.body.classList.toggle('large');
  document.querySelectorAll('.tools [aria-pressed]').forEach(toggle => toggle.setAttribute('aria-pressed', String(isLarge)));
}

/** Shows what was wrong with a script. `places` are its labels in the editor, and `goTo` leads to one. */
export function showError(error, places, script, goTo) {
  status('failed');
  const links = places.map(place => {
    const { line, column } = lineAndColumn(script, place.start);
    return element('li', {}, button(`line ${line}, column ${column}`, () => goTo(place.start), { class: 'link' }), place.text && `: ${place.text}`);
  });
  at('results').replaceChildren(element(
    'div', { class: 'error', role: 'alert' },
    element('h2', {}, error.message),
    links.length > 0 && element('ul', {}, links),
    error.causes?.map(cause => element('p', {}, typeof cause === 'string' ? cause : (cause.message ?? ''))),
    error.help && element('p', { class: 'help' }, error.help),
    error.code && element('p', { class: 'code' }, error.code),
  ));
}

/** Shows that there is nothing, and why. */
export function showNothing(text) {
  status(text);
  at('results').replaceChildren();
}

/** Shows what helps those who begin, in the place of results. */
export function showWelcome(view) {
  status('');
  document.body.classList.remove('large');
  at('results').replaceChildren(view);
}

/** The line above the results. While it is busy, nobody has to hear of every change. */
export function status(text, title = '', isBusy = false) {
  at('status').setAttribute('aria-busy', String(isBusy));
  at('status').textContent = text;
  at('status').title = title;
}
