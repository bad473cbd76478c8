// What the word before the cursor may become.

import { isOpen, precedesRelation, tokens } from './lexer.js';

const MOST = 60;
/** The kinds of tokens that are values, so that `*` behind one is a multiplication. */
const VALUES = new Set(['name', 'number', 'string', 'parameter', 'constant']);
const KEYWORDS = ['not', 'and', 'or', 'in', 'true', 'false', 'null'].map(name => ({ name, kind: 'keyword' }));

/**
 * The place where the word before the cursor begins, and what it may become: `{from, items}`, where an item is
 * `{name, kind, insert, detail, doc}`. `names` has what there is to choose from:
 * `words`, the vocabulary of the server; `relations`, the names of the stored relations; `columns(relation)`, those of one;
 * `parameters`, the names of the parameters.
 */
export function complete(text, cursor, names) {
  const before = tokens(text.slice(0, cursor));
  const last = before.at(-1);
  if (last && isOpen(last)) return { from: cursor, items: [] };
  const word = /[\p{ID_Continue}.]*$/u.exec(text.slice(0, cursor))[0];
  const from = cursor - word.length;
  const sign = /(?:(?<![\p{ID_Continue}:'"]):{1,2}|%|\$|\*|(?<!<)~)$/u.exec(text.slice(0, from))?.[0] ?? '';
  const start = from - sign.length;
  const context = where(before.filter(token => token.kind !== 'blank' && token.kind !== 'comment' && token.end <= start));
  const relation = /(?:\*|(?<!<)~|(?<=(?:::?[a-z_]+\s+)))((?:[\p{ID_Continue}.]+:)+)[\p{ID_Continue}]*$/u.exec(text.slice(0, cursor));

  if (/^[\d.]/.test(word)) return { from, items: [] };
  if (sign === '::') return fitting(names.words.system, sign + word, start);
  if (sign === ':') return fitting([...names.words.mutations, ...names.words.options], sign + word, start);
  if (sign === '$') return fitting(names.parameters.map(name => ({ name, kind: 'parameter' })), word, from);
  if (relation) return fitting(relations(names), relation[1] + word, from - relation[1].length);
  const control = sign === '%' ? fitting(names.words.control, sign + word, start) : { items: [] };
  if (control.items.length) return control;
  if (sign === '*' && !context.isOperand) return fitting(relations(names), word, from);
  if (sign === '~' && !context.isOperand) return fitting(relations(names).filter(({ kind }) => kind === 'index'), word, from);
  if (context.isRelation) return fitting(relations(names), word, from);
  if (context.isFixedRule) return fitting(names.words.fixed_rules, word, from);
  if (context.isType) return fitting(names.words.types, word, from);
  if (context.isSearch) return fitting(names.words.search_parameters, word, from);
  if (context.relation) {
    const used = context.used;
    const columns = names.columns(context.relation).filter(column => column.name === word || !used.has(column.name));
    return fitting(columns, word, from);
  }
  const own = variables(text, from, cursor);
  const options = context.fixedRule
    ? (names.words.fixed_rules.find(rule => rule.name === context.fixedRule)?.options ?? [])
    : [];
  if (!word && !options.length) return { from, items: [] };
  const calls = context.isHead ? [...names.words.aggregations, ...own] : [...own, ...names.words.functions, ...KEYWORDS];
  return fitting([...options, ...calls], word, from);
}

const relations = names => names.relations.map(name => ({ name, kind: name.includes(':') ? 'index' : 'relation' }));

/** The candidates that begin with a word, and after them those that contain it. */
function fitting(candidates, word, from) {
  const wanted = word.toLowerCase();
  const [first, second, seen] = [[], [], new Set()];
  for (const item of candidates) {
    const name = item.name.toLowerCase();
    if (seen.has(item.name) || !name.includes(wanted)) continue;
    seen.add(item.name);
    (name.startsWith(wanted) ? first : second).push(item);
  }
  const items = [...first, ...(wanted.length > 1 ? second : [])].slice(0, MOST);
  // What is written already in full needs no help.
  return { from, items: items.length === 1 && items[0].name === word ? [] : items };
}

/** What may stand after some tokens. */
function where(before) {
  const open = [];
  before.forEach((token, i) => {
    const [opener, start] = [before[i - 1], before[i - 2]];
    if (['(', '[', '{'].includes(token.text)) open.push({ index: i, bracket: token.text, opener, start });
    else if ([')', ']', '}'].includes(token.text)) open.pop();
  });
  const previous = before.at(-1);
  const inner = open.at(-1);
  const begins = previous !== undefined && [',', '(', '[', '{', '=>', '|'].includes(previous.text);
  const found = {
    isRelation: precedesRelation(previous),
    isFixedRule: previous?.text === '<~',
    isOperand: VALUES.has(previous?.kind) || [')', ']'].includes(previous?.text),
  };
  if (inner?.bracket === '{' && inner.opener?.kind === 'relation') {
    const inside = before.slice(inner.index + 1);
    found.isType = previous.text === ':' && precedesRelation(inner.start);
    found.isSearch = begins && inner.opener.text.startsWith('~') && inside.some(token => token.text === '|');
    if (begins) {
      // What is searched for are rows of the relation before the colon.
      found.relation = inner.opener.text.replace(/^\*|^~|(?<=^~.*):[^:]*$/gu, '');
      const names = inside.filter((_, i) => i === 0 || [',', '=>'].includes(inside[i - 1].text));
      found.used = new Set(names.map(token => token.text));
    }
  }
  if (inner?.bracket === '(' && inner.start?.text === '<~' && begins) found.fixedRule = inner.opener.text;
  if (inner?.bracket === '[' && inner.opener?.kind === 'rule' && begins) found.isHead = isHead(before, inner);
  return found;
}

/** Whether a bracket belongs to the head of a rule: its name begins a clause. */
function isHead(before, { index, opener }) {
  const previous = before[index - 2];
  return opener.text === '?' || previous === undefined || [';', '}', ']', '{'].includes(previous.text);
}

/** The variables and rules of a script, but for the word at a place. */
function variables(text, from, cursor) {
  const named = tokens(text).filter(token => (token.kind === 'name' || token.kind === 'rule') && token.text !== '?');
  const others = named.filter(token => token.end < from || token.start > cursor);
  return others.map(({ text: name, kind }) => ({ name, kind: kind === 'rule' ? 'rule' : 'variable' }));
}
