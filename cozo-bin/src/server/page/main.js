// The page: an editor, what its scripts give, and beside them relations, history and running scripts.

import { query, vocabulary, wasStopped } from './api.js';
import { complete } from './complete.js';
import { at } from './dom.js';
import { Editor } from './editor.js';
import { History } from './history.js';
import { Relations } from './relations.js';
import { chain, showError, showNothing, showResult, status } from './results.js';
import { Running } from './running.js';
import { marks } from './spans.js';
import { local } from './storage.js';
import { Suggestions } from './suggest.js';
import { tabs } from './tabs.js';
import * as theme from './theme.js';
import * as token from './token.js';
import { counted, duration } from './values.js';

const FIRST_SCRIPT = '# Ctrl+Enter runs the script, Ctrl+Space completes names.\n?[greeting] <- [[\'hello\']]\n';
const EXPLAIN = '::explain analyze {\n';
/** What changes the relations, so that the list of them is read anew. */
const CHANGES_RELATIONS = /:(?:create|replace)\b|::(?:remove|rename|index|set_triggers|access_level|describe)\b/;

theme.start();

const draft = local.read('draft', { script: FIRST_SCRIPT, parameters: '' });
at('script').value = draft.script;
at('parameters').value = draft.parameters;
// Keys go first to the list of suggestions, then to what runs scripts, then to the editor.
const suggestions = new Suggestions(at('script'), (from, insert) => editor.replace(from, editor.cursor, insert));
at('script').addEventListener('keydown', runOrSuggest);
const editor = new Editor(at('script'), at('layer'), at('gutter'));
const relations = new Relations(script => load({ script }), error => showError(error, [], '', () => {}));
const history = new History(entry => load(entry));
const running = new Running();
let words = { system: [], mutations: [], options: [], control: [], functions: [], aggregations: [], fixed_rules: [], types: [] };
let stop = null;

function load({ script, parameters }) {
  showSide(false);
  editor.load(script);
  if (parameters !== undefined) at('parameters').value = parameters;
  keepDraft();
}

/** Shows what is beside the editor, or hides it, where the window is too narrow for both. */
function showSide(shown) {
  document.body.classList.toggle('side-open', shown);
  at('side-toggle').setAttribute('aria-expanded', String(shown));
}

function keepDraft() {
  local.write('draft', { script: editor.text, parameters: at('parameters').value });
}

/** The text of the parameters, or nothing if it is no JSON object. */
function parameters() {
  const field = at('parameters');
  const text = field.value.trim() || '{}';
  let problem = '';
  try {
    const value = JSON.parse(text);
    if (value === null || typeof value !== 'object' || Array.isArray(value)) problem = 'an object is needed, as {"name": "Ann"}';
  } catch (error) {
    problem = error.message;
  }
  field.setAttribute('aria-invalid', String(Boolean(problem)));
  at('parameters-problem').textContent = problem;
  return problem ? null : text;
}

/** Runs the script; or, with a prefix and a suffix around it, what becomes of it. */
async function run(prefix = '', suffix = '') {
  const [script, given] = [editor.text, parameters()];
  if (given === null) {
    at('parameters').focus();
    showNothing('the parameters are no JSON object');
    return;
  }
  stop?.abort();
  const stopping = stop = new AbortController();
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  const clock = setInterval(() => status(`running, ${seconds().toFixed(1)} s`, '', true), 100);
  at('stop').disabled = false;
  editor.mark([]);
  suggestions.close();
  const note = (outcome, failed) => history.add({ script, parameters: at('parameters').value.trim(), outcome, failed });
  try {
    const result = await query(prefix + script + suffix, { parameters: given, signal: stopping.signal });
    const rows = chain(result).reduce((sum, part) => sum + part.rows.length, 0);
    showResult(result, seconds());
    note(`${counted(rows, 'row')}, ${duration(result.took)}`, false);
    if (!prefix && CHANGES_RELATIONS.test(script)) relations.load();
  } catch (error) {
    if (stopping !== stop) return;
    if (wasStopped(error)) {
      showNothing(`stopped after ${duration(seconds())}`);
      return;
    }
    const places = marks(error.labels ?? [], script, prefix);
    // The script may have been changed meanwhile.
    if (editor.text === script) editor.mark(places);
    showError(error, places, script, place => editor.goTo(place));
    note('failed', true);
  } finally {
    clearInterval(clock);
    if (stopping === stop) {
      stop = null;
      at('stop').disabled = true;
    }
  }
}

const explain = () => run(EXPLAIN, '\n}');

/** Shows what may stand at the cursor; `asked` says that the user wants to know. */
function suggest(asked) {
  const names = {
    words, relations: relations.names, parameters: parameterNames(),
    columns: name => relations.columns(name, () => suggest(asked)),
  };
  const found = complete(editor.text, editor.cursor, names);
  suggestions.show(found, editor.rectangle(found.from), asked || found.from < editor.cursor);
}

function parameterNames() {
  try {
    return Object.keys(JSON.parse(at('parameters').value));
  } catch {
    return [];
  }
}

function runOrSuggest(event) {
  if (suggestions.key(event)) event.stopImmediatePropagation();
  else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (event.shiftKey) explain();
    else run();
  } else if (event.key === ' ' && event.ctrlKey) {
    event.preventDefault();
    suggest(true);
  }
}

at('script').addEventListener('input', event => {
  keepDraft();
  // Only typing opens the list, or narrows it.
  const typed = event.inputType === 'insertText' && event.data && /[\p{ID_Continue}.:*%$@{[(,~ ]$/u.test(event.data);
  const mayFollow = typed && (!/[ ,(~[]$/.test(event.data) || /<~ $|[{,] ?$/.test(editor.text.slice(0, editor.cursor)));
  if (mayFollow || (typed && suggestions.isOpen) || (suggestions.isOpen && event.inputType === 'deleteContentBackward')) suggest(false);
  else suggestions.close();
});
at('script').addEventListener('blur', () => suggestions.close());
at('editor').addEventListener('scroll', () => suggestions.close());
at('parameters').addEventListener('input', () => {
  keepDraft();
  parameters();
});
at('parameters').addEventListener('keydown', event => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run();
});
at('run').addEventListener('click', () => run());
at('explain').addEventListener('click', explain);
at('stop').addEventListener('click', () => stop?.abort());
at('token-open').addEventListener('click', async () => {
  if (!(await token.ask(false))) return;
  learn();
  relations.load();
});
at('side-toggle').addEventListener('click', () => showSide(!document.body.classList.contains('side-open')));
at('side').addEventListener('keydown', event => {
  if (event.key === 'Escape') showSide(false);
});

const side = tabs('Panels', ['Relations', 'History', 'Running'].map(label => ({ label, panel: at(`${label.toLowerCase()}-panel`) })), {
  shown: index => running.watch(index === 2),
});
at('side').prepend(side.list);

/** Reads what completion knows besides relations: the words of the language, and the fixed rules that clients have added. */
async function learn() {
  try {
    words = await vocabulary();
    const known = new Set(words.fixed_rules.map(rule => rule.name));
    const added = (await query('::fixed_rules')).rows.map(([name]) => name).filter(name => !known.has(name));
    words.fixed_rules.push(...added.map(name => ({ name, kind: 'fixed rule', insert: `${name}(` })));
  } catch (error) {
    status(error.message);
  }
}

learn();
relations.load();
