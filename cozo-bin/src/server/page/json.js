// JSON whose numbers stay as they were written: 1.0 is not 1, and 9007199254740993 is not 9007199254740992.

/** A number whose text JavaScript would change. */
export class Exact {
  constructor(text) {
    this.text = text;
  }
  valueOf() {
    return Number(this.text);
  }
  toJSON() {
    return Number(this.text);
  }
}

const BLANK = /[ \t\n\r]*/y;
const PLAIN = /"[^"\\]*"/y;
const ESCAPED = /"(?:[^"\\]|\\[^])*"/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const WORDS = { true: true, false: false, null: null };

/** The value of a text; fails as `JSON.parse` does. */
export function parse(text) {
  let at = 0;

  const fail = () => {
    throw new SyntaxError(at < text.length ? `unexpected '${text[at]}' at position ${at}` : 'unexpected end');
  };
  const match = pattern => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) fail();
    at = pattern.lastIndex;
    return found[0];
  };
  const skip = () => {
    const code = text.charCodeAt(at);
    if (code === 32 || code === 10 || code === 13 || code === 9) match(BLANK);
  };
  const expect = character => {
    skip();
    if (text[at] !== character) fail();
    at += 1;
  };

  function string() {
    const start = at;
    PLAIN.lastIndex = at;
    if (PLAIN.test(text)) {
      at = PLAIN.lastIndex;
      return text.slice(start + 1, at - 1);
    }
    return JSON.parse(match(ESCAPED));
  }

  function number() {
    const written = match(NUMBER);
    const value = Number(written);
    return String(value) === written ? value : new Exact(written);
  }

  function items(close, item) {
    at += 1;
    skip();
    if (text[at] === close) {
      at += 1;
      return;
    }
    for (;;) {
      item();
      skip();
      if (text[at] === ',') at += 1;
      else break;
    }
    expect(close);
  }

  function value() {
    skip();
    switch (text[at]) {
      case '"': return string();
      case '[': {
        const list = [];
        items(']', () => list.push(value()));
        return list;
      }
      case '{': {
        const pairs = [];
        items('}', () => {
          skip();
          if (text[at] !== '"') fail();
          const key = string();
          expect(':');
          pairs.push([key, value()]);
        });
        return Object.fromEntries(pairs);
      }
      case 't': case 'f': case 'n': return WORDS[match(WORD)];
      default: return number();
    }
  }

  const result = value();
  skip();
  if (at < text.length) fail();
  return result;
}

/** The text of a value, with an indentation for what is nested if one is given. */
export function stringify(value, indent = '', margin = '') {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const inner = margin + indent;
  const parts = Array.isArray(value)
    ? value.map(item => stringify(item, indent, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${indent && ' '}${stringify(item, indent, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (!parts.length) return open + close;
  return indent ? `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}` : open + parts.join(',') + close;
}
