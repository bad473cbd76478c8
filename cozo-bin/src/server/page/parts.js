// The queries of a text: parts that blank lines separate. A blank line within brackets, a string or a comment separates nothing.

import { tokens } from './lexer.js';

/** The parts of a text: `{start, end, first, last}`, where `first` and `last` are lines from 1. */
export function partsOf(text) {
  const parts = [];
  let [depth, part] = [0, null];
  for (const token of tokens(text)) {
    if (token.kind === 'punctuation') depth = Math.max(0, depth + ('([{'.includes(token.text) ? 1 : ')]}'.includes(token.text) ? -1 : 0));
    if (token.kind !== 'blank') {
      part ??= { start: token.start };
      part.end = token.end;
    } else if (part && depth === 0 && token.text.split('\n').length > 2) {
      parts.push(part);
      part = null;
    }
  }
  if (part) parts.push(part);
  const lineOf = index => text.slice(0, index).split('\n').length;
  return parts.map(({ start, end }) => ({ start, end, first: lineOf(start), last: lineOf(end) }));
}

/**
 * What of a text is run alone: the selection if there is one, or else the part at the cursor, or the last one before it. Gives
 * `{start, end, first, last, isSelection}`, or nothing where that would be all of the text.
 */
export function partAt(text, start, end) {
  if (start !== end && text.slice(start, end).trim()) {
    const lineOf = index => text.slice(0, index).split('\n').length;
    return { start, end, first: lineOf(start), last: lineOf(end), isSelection: true };
  }
  const parts = partsOf(text);
  if (parts.length < 2) return null;
  const found = parts.findLast(part => part.start <= start) ?? parts[0];
  return { ...found, isSelection: false };
}

/** The words on the button that runs a part. */
export function named({ first, last, isSelection }) {
  const lines = first === last ? `line ${first}` : `lines ${first}–${last}`;
  return isSelection ? `Run selection (${lines})` : `Run ${lines}`;
}
