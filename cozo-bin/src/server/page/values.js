// Values of the database: their kinds, their text, their order.

import { Exact, stringify } from './json.js';

const KINDS = ['null', 'boolean', 'number', 'string', 'list', 'object'];

/** One of `KINDS`, in the order in which the database sorts them. */
export function kind(value) {
  if (value === null) return 'null';
  if (value instanceof Exact) return 'number';
  if (Array.isArray(value)) return 'list';
  return typeof value;
}

/** A value as a cell shows it: strings as they are, all else as JSON. */
export const text = value => (typeof value === 'string' ? value : stringify(value));

const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** Strings in the order of their code points, as the database has them. */
function compareStrings(a, b) {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    // Halves of pairs stand for larger code points than all other units.
    if (x !== y) return order(x >= 0xd800 && x < 0xe000 ? x + 0x10000 : x, y >= 0xd800 && y < 0xe000 ? y + 0x10000 : y);
  }
  return a.length - b.length;
}

function compareNumbers(a, b) {
  const rough = order(Number(a), Number(b));
  const isLong = value => value instanceof Exact && /^-?\d+$/.test(value.text);
  return rough || !(isLong(a) || isLong(b)) ? rough : order(asInteger(a), asInteger(b));
}

const asInteger = value => BigInt(/^-?\d+$/.test(value.text ?? '') ? value.text : Math.trunc(Number(value)));

/** Less than 0, 0, or more than 0, as a value comes before, with or after another. */
export function compare(a, b) {
  const [one, other] = [kind(a), kind(b)];
  if (one !== other) return KINDS.indexOf(one) - KINDS.indexOf(other);
  switch (one) {
    case 'number': return compareNumbers(a, b);
    case 'string': return compareStrings(a, b);
    case 'list': return compareLists(a, b);
    case 'object': return compareStrings(stringify(a), stringify(b));
    default: return order(a, b);
  }
}

function compareLists(a, b) {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const found = compare(a[i], b[i]);
    if (found) return found;
  }
  return a.length - b.length;
}

/** A duration in the unit that suits it. */
export function duration(seconds) {
  if (seconds >= 100) return `${seconds.toFixed(0)} s`;
  const [factor, unit] = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e3, 'ms'] : [1e6, 'µs'];
  return `${Number((seconds * factor).toPrecision(3))} ${unit}`;
}

/** A number of things: `1 row`, `100,000 rows`. */
export const counted = (n, thing) => `${n.toLocaleString('en')} ${thing}${n === 1 ? '' : 's'}`;
