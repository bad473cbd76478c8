// CozoScript as a row of tokens, for colors and completion. Any text has tokens: what is unfinished, too.

const NAME = '[\\p{ID_Start}_][\\p{ID_Continue}]*';
const DOTTED = '[\\p{ID_Start}_][\\p{ID_Continue}.]*';

const OPTIONS = [
  'create', 'replace', 'put', 'insert', 'update', 'rm', 'delete', 'ensure_not', 'ensure', 'limit', 'offset', 'order', 'sort', 'timeout',
  'sleep', 'assert', 'returning', 'disable_magic_rewrite', 'disable_join_reorder',
];

const PATTERNS = [
  ['blank', '\\s+'],
  ['comment', '#[^\\n]*|/\\*[^]*?(?:\\*/|$)'],
  ['string', '(?<bars>_+)"[^]*?(?:"\\k<bars>|$)|"(?:[^"\\\\]|\\\\[^])*"?|\'(?:[^\'\\\\]|\\\\[^])*\'?'],
  ['number', '0[xob][\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d[\\d_]*)?(?:[eE][+-]?\\d+)?'],
  ['parameter', '\\$[\\p{ID_Continue}.]*'],
  ['system', '::[a-z_]*'],
  ['option', `(?<![\\p{ID_Continue}]):(?:${OPTIONS.join('|')})(?![\\p{ID_Continue}])`],
  ['control', '%(?:if_not|if|then|else|end|loop|mark|break|continue|return|swap|debug|ignore_error)(?![\\p{ID_Continue}])'],
  ['relation', `(?:\\*${DOTTED}(?::${NAME})*|(?<!<)~${DOTTED}:${NAME})(?=\\s*[\\[{])`],
  ['constant', '(?:null|true|false)(?![\\p{ID_Continue}.])'],
  ['keyword', '(?:not|and|or|in)(?![\\p{ID_Continue}.(])'],
  ['function', `${NAME}(?=\\s*\\()`],
  ['rule', `(?:\\?|${NAME})(?=\\[)`],
  ['name', DOTTED],
  ['operator', ':=|<-|<~|=>|->|==|!=|<=|>=|&&|\\|\\||\\+\\+|[-+*/%^~!<>=@|?]'],
  ['punctuation', '[^]'],
];
const TOKEN = new RegExp(PATTERNS.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join('|'), 'gu');
const KINDS = PATTERNS.map(([kind]) => kind);

/** After these words stands a stored relation. */
const BEFORE_RELATION = new RegExp([
  '^:(?:create|replace|put|insert|update|rm|delete|ensure|ensure_not)$',
  '^::(?:columns|indices|remove|rename|describe|set_triggers|show_triggers)$',
].join('|'));

/** Whether a stored relation is expected after a token. */
export const precedesRelation = token => token !== undefined && BEFORE_RELATION.test(token.text);

/** The tokens of a text: `{kind, text, start, end}`; together they are the text. */
export function tokens(source) {
  const found = [];
  let before;
  for (const match of source.matchAll(TOKEN)) {
    const text = match[0];
    let kind = KINDS.find(name => match.groups[name] !== undefined);
    if ((kind === 'name' || kind === 'function') && precedesRelation(before)) kind = 'relation';
    const token = { kind, text, start: match.index, end: match.index + text.length };
    found.push(token);
    if (kind !== 'blank' && kind !== 'comment') before = token;
  }
  return found;
}

/** Whether a token is a string or a comment that goes on where the text ends. */
export function isOpen({ kind, text }) {
  if (kind === 'comment') return text.startsWith('#') || text.length < 4 || !text.endsWith('*/');
  if (kind !== 'string') return false;
  const [, bars] = /^(_*)/.exec(text);
  const quote = text[bars.length];
  if (bars) return !(text.length > 2 * bars.length + 1 && text.endsWith(quote + bars));
  return !/^(["'])(?:(?!\1)[^\\]|\\[^])*\1$/.test(text);
}
