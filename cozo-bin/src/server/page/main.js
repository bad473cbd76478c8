// The page: an editor, what its scripts give, and beside them relations, history and running scripts.

import { query, vocabulary } from './api.js';
import { complete } from './complete.js';
import { CsvDialog } from './csv_dialog.js';
import { at } from './dom.js';
import { Editor } from './editor.js';
import { History } from './history.js';
import { named, partAt } from './parts.js';
import { Relations } from './relations.js';
import { showError, showWelcome, status } from './results.js';
import { Runner } from './runner.js';
import { Running } from './running.js';
import { local } from './storage.js';
import { Suggestions } from './suggest.js';
import { tabs } from './tabs.js';
import * as theme from './theme.js';
import * as token from './token.js';
import { welcome } from './welcome.js';

const FIRST_SCRIPT = '# Ctrl+Enter runs the script, Ctrl+Space completes names.\n?[greeting] <- [[\'hello\']]\n';

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
const running = new Running(entry => load(entry));
const runner = new Runner({ editor, history, relations, parameters });
new CsvDialog(relations, () => relations.load());
let words = { system: [], mutations: [], options: [], control: [], functions: [], aggregations: [], fixed_rules: [], types: [] };

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

const part = () => partAt(editor.text, ...editor.selection);

/** Says which part of the script can be run alone, on the button and beside the lines. */
function showPart() {
  const found = part();
  at('run-part').hidden = !found;
  if (found) at('run-part').textContent = named(found);
  editor.showPart(found);
}

function runPart() {
  suggestions.close();
  runner.run(part() ?? {});
}

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
    suggestions.close();
    if (event.shiftKey) runner.explain();
    else runner.run();
  } else if (event.key === 'Enter' && event.altKey) {
    event.preventDefault();
    runPart();
  } else if (event.key === ' ' && event.ctrlKey) {
    event.preventDefault();
    suggest(true);
  }
}

at('script').addEventListener('input', event => {
  keepDraft();
  showPart();
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
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) runner.run();
});
at('run').addEventListener('click', () => runner.run());
at('run-part').addEventListener('click', runPart);
// The button does not take the selection away.
at('run-part').addEventListener('mousedown', event => event.preventDefault());
at('explain').addEventListener('click', () => runner.explain());
at('stop').addEventListener('click', () => runner.stop());
at('help').addEventListener('click', () => showWelcome(welcome(script => load({ script }))));
document.addEventListener('selectionchange', showPart);
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

showWelcome(welcome(script => load({ script })));
showPart();
learn();
relations.load();
