// What stands where results will be: examples, and the language on one page.

import { button, element } from './dom.js';

const FLIGHTS = `?[fr, to, km] <- [
    ['Lisbon', 'Madrid', 503], ['Madrid', 'Paris', 1053], ['Paris', 'London', 344], ['London', 'Oslo', 1155],
    ['Paris', 'Berlin', 878], ['Berlin', 'Vienna', 524], ['Vienna', 'Rome', 765], ['Rome', 'Madrid', 1365],
    ['Berlin', 'Oslo', 838], ['Vienna', 'Athens', 1283], ['Rome', 'Athens', 1052], ['London', 'Lisbon', 1585]
]
:replace flight {fr: String, to: String => km: Int}
`;

const EXAMPLES = [
  ['Make a relation', 'flights between cities, which the other examples read', FLIGHTS],
  ['Look at it as a graph', 'run it, and choose Graph above the rows', '?[fr, to, km] := *flight{fr, to, km}\n'],
  ['Recursion', 'all cities that one gets to', `reached[city] := *flight{fr: 'Lisbon', to: city}
reached[city] := reached[stop], *flight{fr: stop, to: city}
?[city] := reached[city]
`],
  ['Shortest ways', 'an aggregation within recursion', `way[city, min(km)] := *flight{fr: 'Lisbon', to: city, km}
way[city, min(km)] := way[stop, before], *flight{fr: stop, to: city, km: leg}, km = before + leg
?[city, km] := way[city, km]
:order km
`],
  ['PageRank', 'an algorithm over a graph', '?[city, rank] <~ PageRank(*flight[fr, to])\n:order -rank\n'],
  ['Without a relation', 'lists, functions and groups', `?[parity, count(n), sum(n)] := n in int_range(1, 101), parity = if(n % 2 == 0, 'even', 'odd')
`],
];

const SHEET = [
  ['Rules', [
    ['?[a, b] := *r{a, b}', 'the answer: columns of a stored relation'],
    ['x[a] := *r{a, b}, b > 3', 'a rule of its own; a comma is “and”'],
    ['x[a] := *s{a}', 'the same rule once more is “or”'],
    ['?[a] <- [[1], [2]]', 'rows that stand in the script'],
    ['?[n, v] <~ PageRank(*r[a, b])', 'an algorithm'],
  ]],
  ['In a rule', [
    ['*r[a, _, c]', 'a relation by the places of its columns'],
    ['*r{col: v}', 'and by their names'],
    ['not *r{a}', 'there is no such row'],
    ['v = a + 1, v < 10', 'a value, a condition'],
    ['i in [1, 2]', 'a row for each item'],
    ['$name', 'a parameter'],
  ]],
  ['Heads and options', [
    ['?[a, count(b), mean(c)]', 'groups by what is not aggregated'],
    [':order -b, a', 'sorts, - is descending'],
    [':limit 10 :offset 20', 'cuts'],
    [':timeout 5', 'seconds'],
  ]],
  ['Writing', [
    [':create r {k: Int => v: String?}', 'a new relation; keys stand before =>'],
    [':put r {k => v}', 'adds or replaces rows'],
    [':update r {k => v}', 'changes values of rows'],
    [':rm r {k}', 'removes rows by their keys'],
    ['{…} {…}', 'several queries, all or none'],
  ]],
  ['The database', [
    ['::relations', 'lists the relations'],
    ['::columns r', 'lists columns'],
    ['::index create r:by_v {v}', 'makes an index'],
    ['::explain {…}', 'shows the plan of a query'],
    ['::remove r', 'drops a relation'],
  ]],
  ['Keys', [
    ['Ctrl+Enter', 'runs all of the text'],
    ['Alt+Enter', 'runs the selection, or the part between blank lines at the cursor'],
    ['Ctrl+Shift+Enter', 'explains'],
    ['Ctrl+Space', 'completes'],
    ['Ctrl+/', 'makes lines comments, and back'],
  ]],
];

/** The examples, of which `load(script)` puts one into the editor, and the language on one page. */
export function welcome(load) {
  return element('div', { class: 'welcome', tabindex: 0, role: 'region', 'aria-label': 'Examples and cheat sheet' },
    element('h2', {}, 'Examples'),
    element('ul', { class: 'examples' }, EXAMPLES.map(([name, about, script]) => element('li', {},
      button(name, () => load(script), { title: 'Put it into the editor' }), element('span', { class: 'note' }, about)))),
    element('h2', {}, 'Cheat sheet'),
    element('div', { class: 'sheet-parts' }, SHEET.map(([title, lines]) => element('section', {},
      element('h3', {}, title),
      element('dl', {}, lines.map(([code, meaning]) => [element('dt', { class: 'code' }, code), element('dd', {}, meaning)]))))));
}
