// Values of type Validity, `[microseconds, asserted]`, as times that one can read.

import { Exact } from './json.js';

/** Years 1975 to 2260: other pairs of a number and a truth value may be anything. */
const [FIRST, LAST] = [157_000_000_000_000, 9_151_000_000_000_000];

/** Whether a value looks like a Validity. */
export function isValidity(value) {
  if (!Array.isArray(value) || value.length !== 2 || typeof value[1] !== 'boolean') return false;
  const [time] = value;
  const isWhole = typeof time === 'number' ? Number.isInteger(time) : time instanceof Exact && /^-?\d+$/.test(time.text);
  return isWhole && Number(time) >= FIRST && Number(time) <= LAST;
}

/** Whether a column has validities and nothing else, as far as its first rows tell. */
export const hasValidities = values => values.length > 0 && values.every(isValidity);

/** The time of a validity in UTC, and whether the fact begins or ends then. */
export function readable([time, isAsserted]) {
  const microseconds = BigInt(time instanceof Exact ? time.text : time);
  const date = new Date(Number(microseconds / 1000n)).toISOString();
  const rest = String(microseconds % 1_000_000n).padStart(6, '0').replace(/0+$/, '');
  return `${date.slice(0, 10)} ${date.slice(11, 19)}${rest && `.${rest}`} UTC ${isAsserted ? 'asserted' : 'retracted'}`;
}
