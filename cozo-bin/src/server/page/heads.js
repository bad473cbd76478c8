// The aggregations of rules. A plan names the variables of a head only, but the script has all of it.

import { tokens } from './lexer.js';

/** The heads of a script by the names of their rules: lists of arguments as they are written. Of several, the first one counts. */
function headsOf(script) {
  const parts = tokens(script).filter(({ kind }) => kind !== 'blank' && kind !== 'comment');
  const heads = new Map();
  parts.forEach((token, i) => {
    if (token.kind !== 'rule' || parts[i + 1]?.text !== '[') return;
    const { list, end } = argumentsFrom(parts, i + 2);
    if ([':=', '<~', '<-'].includes(parts[end + 1]?.text) && !heads.has(token.text)) heads.set(token.text, list);
  });
  return heads;
}

/** The arguments from a place up to the bracket that closes them, and the place of that bracket. */
function argumentsFrom(parts, start) {
  const [list, end, depth] = [[''], parts.length, { now: 0 }];
  for (let i = start; i < end; i += 1) {
    const { text } = parts[i];
    if (text === ']' && depth.now === 0) return { list, end: i };
    if ('([{'.includes(text)) depth.now += 1;
    if (')]}'.includes(text)) depth.now -= 1;
    if (text === ',' && depth.now === 0) list.push('');
    else list[list.length - 1] += text === ',' ? ', ' : text;
  }
  return { list, end };
}

/** The text of a rule of a plan with the aggregations that its head has in the script. */
export function withAggregations(rule, script) {
  const head = /^([^[]+)\[([^\]]*)\]/.exec(rule);
  if (!head) return rule;
  const written = headsOf(script).get(head[1]);
  const variables = head[2].split(',').map(variable => variable.trim());
  if (!written || written.length !== variables.length) return rule;
  const whole = variables.map((variable, i) => {
    const call = /^([\p{ID_Start}_][\p{ID_Continue}]*)\(\s*[^,()]+(.*)\)$/u.exec(written[i]);
    return call ? `${call[1]}(${variable}${call[2]})` : variable;
  });
  return `${head[1]}[${whole.join(', ')}]${rule.slice(head[0].length)}`;
}
