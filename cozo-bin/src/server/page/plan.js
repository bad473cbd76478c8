// The result of `::explain` as a picture: a card for each rule, with its operators in the order in which rows pass through
// them; lines lead from the rules to the operators that read them. After `::explain analyze`, bars show rows and time.

import { drawn, element } from './dom.js';
import { withAggregations } from './heads.js';
import { tokens } from './lexer.js';
import { inWords } from './operators.js';
import { counted, duration, text } from './values.js';

/** Whether a result is one of `::explain`. */
export const isPlan = ({ headers }) => ['stratum', 'rule_idx', 'op', 'out_relation'].every(name => headers.includes(name));

/** The rules of a plan of a script, in the order in which they run: `{stratum, rule, head, operators}`. */
export function rulesOf({ headers, rows }, script) {
  const rules = new Map();
  for (const row of rows) {
    const operator = Object.fromEntries(headers.map((header, i) => [header, row[i]]));
    const key = `${operator.stratum} ${operator.rule_idx}`;
    const [rule, head] = [text(operator.rule), text(operator.out_relation)];
    if (!rules.has(key)) rules.set(key, { stratum: operator.stratum, rule: withAggregations(rule, script), head, operators: [] });
    rules.get(key).operators.push(operator);
  }
  // Rows list the last operator first.
  for (const rule of rules.values()) rule.operators.sort((a, b) => a.atom_idx - b.atom_idx);
  return [...rules.values()];
}

/** The view of a plan of a script. */
export class Plan {
  constructor(result, script) {
    this.rules = rulesOf(result, script);
    const operators = this.rules.flatMap(rule => rule.operators);
    this.most = {
      rows: Math.max(1, ...operators.map(operator => Number(operator.rows ?? 0))),
      seconds: Math.max(1e-9, ...operators.map(operator => Number(operator.seconds ?? 0))),
    };
    const seconds = operators.reduce((sum, operator) => sum + Number(operator.seconds ?? 0), 0);
    const analyzed = result.headers.includes('seconds');
    this.lines = drawn('svg', { class: 'plan-lines', 'aria-hidden': 'true' });
    const strata = [...new Set(this.rules.map(rule => rule.stratum))].map(stratum => element(
      'section', { class: 'stratum', 'aria-label': `Stratum ${stratum}` },
      element('h2', {}, `Stratum ${stratum}`),
      element('div', { class: 'cards' }, this.rules.filter(rule => rule.stratum === stratum).map(rule => this.card(rule))),
    ));
    const legend = analyzed && element(
      'p', { class: 'legend' }, element('span', { class: 'bar rows' }), ' rows', element('span', { class: 'bar time' }),
      ` time; ${duration(seconds)} in operators altogether`,
    );
    this.picture = element('div', { class: 'plan' }, legend, this.lines, strata, words(operators));
    this.view = element('div', { class: 'plan-view', tabindex: 0, role: 'region', 'aria-label': 'Plan' }, this.picture);
    new ResizeObserver(() => this.join()).observe(this.picture);
  }

  card(rule) {
    const code = tokens(rule.rule).map(({ kind, text: part }) => element('span', { class: `token is-${kind}` }, part));
    return rule.card = element(
      'article', { class: 'card', dataset: { head: rule.head } },
      element('h3', { class: 'code' }, code),
      element('ol', { class: 'operators' }, rule.operators.map(operator => this.operator(operator))),
    );
  }

  operator(operator) {
    const joins = [...(operator.joins_on ?? []), ...(operator['filters/expr'] ?? [])].map(text).join(', ');
    const { name, meaning } = inWords(text(operator.op));
    const isMeasured = operator.rows !== null && operator.rows !== undefined;
    const estimate = operator.estimate ?? null;
    const estimated = estimate === null ? '' : ` of ${counted(Number(estimate), 'row')} estimated`;
    const measures = isMeasured && `${counted(Number(operator.rows), 'row')}${estimated}, ${duration(Number(operator.seconds))}`;
    return operator.box = element(
      'li', { class: `operator ${Number(operator.seconds) >= this.most.seconds / 2 ? 'hot' : ''}`, title: joins },
      element('div', { class: 'operator-head' },
        element('strong', {}, text(operator.op)), element('span', { class: 'in-words', title: meaning }, name),
        operator.ref !== null && element('span', { class: 'ref' }, text(operator.ref)),
        measures && element('span', { class: 'measures' }, measures)),
      joins && element('div', { class: 'operator-detail code' }, joins),
      isMeasured && [this.bar('rows', operator.rows), this.bar('seconds', operator.seconds)],
    );
  }

  bar(name, value) {
    const bar = element('span', { class: `bar ${name === 'rows' ? 'rows' : 'time'}` });
    bar.style.width = `${Math.max(0.5, (100 * Number(value)) / this.most[name]).toFixed(1)}%`;
    return element('div', { class: 'track' }, bar);
  }

  /** Is called when the view is seen. */
  show() {
    this.join();
  }

  /** Draws the lines, where the cards are now. */
  join() {
    const frame = this.picture.getBoundingClientRect();
    if (!frame.width) return;
    this.lines.setAttribute('viewBox', `0 0 ${frame.width} ${frame.height}`);
    this.lines.setAttribute('width', frame.width);
    this.lines.setAttribute('height', frame.height);
    const inFrame = ({ left, right, top, bottom }) => (
      { left: left - frame.left, right: right - frame.left, top: top - frame.top, bottom: bottom - frame.top }
    );
    const lines = [];
    for (const reader of this.rules) {
      for (const operator of reader.operators) {
        for (const rule of this.rules.filter(({ head }) => reads(operator, head))) {
          const isSame = rule.stratum === reader.stratum;
          const [from, card, box] = [rule.card, reader.card, operator.box].map(node => inFrame(node.getBoundingClientRect()));
          const to = { x: card.left, y: (box.top + box.bottom) / 2 };
          lines.push(drawn('path', { d: curve(from, to, isSame), class: isSame ? 'recursive' : null }));
          lines.push(drawn('circle', { cx: to.x, cy: to.y, r: 4 }));
        }
      }
    }
    this.lines.replaceChildren(...lines);
  }
}

/** What the operators of a plan do. */
function words(operators) {
  const kinds = [...new Set(operators.map(operator => text(operator.op)))].sort().filter(kind => inWords(kind).meaning);
  return element('details', { class: 'plan-words' },
    element('summary', {}, 'What the operators do'),
    element('dl', {}, kinds.map(kind => [element('dt', { class: 'code' }, kind), element('dd', {}, inWords(kind).meaning)])));
}

/** Whether an operator reads the rows of a rule. */
function reads(operator, head) {
  if (operator.op !== 'algo') return operator.ref === head;
  // The inputs of a fixed rule stand in its call.
  const called = (operator['filters/expr'] ?? []).flatMap(call => tokens(text(call)));
  return called.some(token => token.kind === 'rule' && token.text === head);
}

/** From the lower edge of a card to the left edge of another one; recursion goes around on the left. Cards lie above the lines. */
function curve(from, { x, y }, around) {
  const start = from.bottom - 14;
  if (around && x > from.right) return `M${from.right} ${start}C${from.right + 30} ${start} ${x - 30} ${y} ${x} ${y}`;
  if (around) {
    const side = Math.min(from.left, x) - 20;
    return `M${from.left} ${start}C${side} ${start} ${side} ${y} ${x} ${y}`;
  }
  const middle = (from.left + from.right) / 2;
  const bend = Math.max(30, (y - from.bottom) / 2);
  return `M${middle} ${from.bottom}C${middle} ${from.bottom + bend} ${x - 40} ${y} ${x} ${y}`;
}
