// Comma-separated values as files have them: what is in them, and which types would do.

const SEPARATORS = [',', ';', '\t', '|'];
/** So many rows decide what type a column has, and which separator there is. */
const GUESSED_FROM = 2000;

/** The records of a text, each a list of fields. An empty field is null, `""` is an empty string. Fails where a quote does not end. */
export function records(text, separator) {
  const found = [];
  let [at, record, line] = [text.startsWith('\ufeff') ? 1 : 0, [], 1];
  const plain = new RegExp(`[^${separator}\\r\\n]*`, 'y');
  const end = () => {
    // A line without anything is no record.
    if (record.length > 1 || record[0] !== null) found.push(record);
    record = [];
  };
  while (at < text.length) {
    let field = null;
    if (text[at] === '"') {
      const close = closing(text, at, line);
      field = text.slice(at + 1, close).replaceAll('""', '"');
      line += field.split('\n').length - 1;
      at = close + 1;
    }
    plain.lastIndex = at;
    const [rest] = plain.exec(text);
    record.push(rest ? (field ?? '') + rest : field);
    at += rest.length;
    if (text[at] === separator) {
      at += 1;
      // What follows the last separator of a text is a field, too.
      if (at === text.length) record.push(null);
      continue;
    }
    end();
    at += text.startsWith('\r\n', at) ? 2 : 1;
    line += 1;
  }
  if (record.length) end();
  return found;
}

/** Where a quoted field ends. */
function closing(text, at, line) {
  for (let close = text.indexOf('"', at + 1); close >= 0; close = text.indexOf('"', close + 2)) {
    if (text[close + 1] !== '"') return close;
  }
  throw new Error(`the quote that begins in line ${line} does not end`);
}

/** The separator that a text most likely has: the one that its first line has most often. */
export function separatorOf(text) {
  const line = text.slice(0, 10_000).split(/\r?\n/)[0].replace(/"(?:[^"]|"")*"/g, '');
  const count = separator => line.split(separator).length;
  return SEPARATORS.reduce((best, separator) => (count(separator) > count(best) ? separator : best));
}

const INTEGER = /^[-+]?\d{1,18}$/;
const FLOAT = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;
/** Numbers such as 007 are names. */
const NAME = /^[-+]?0\d/;

/** The type that all values of a column have, with `?` where some are missing. */
export function typeOf(rows, column) {
  const fields = rows.slice(0, GUESSED_FROM).map(row => row[column] ?? null);
  const values = fields.filter(value => value !== null);
  const all = pattern => values.length > 0 && values.every(value => pattern.test(value) && !NAME.test(value));
  const type = all(INTEGER) ? 'Int' : all(FLOAT) ? 'Float' : all(/^(?:true|false)$/i) ? 'Bool' : 'String';
  return values.length < fields.length ? `${type}?` : type;
}

/** The JSON of a field in a column of a type. What does not fit stays a string, for the database to refuse. */
export function jsonOf(field, type) {
  const base = type.replace('?', '');
  if (field === null || field === undefined) return base === 'String' && !type.endsWith('?') ? '""' : 'null';
  const plain = field.trim();
  if (base === 'Bool' && /^(?:true|false)$/i.test(plain)) return plain.toLowerCase();
  if ((base === 'Int' && INTEGER.test(plain)) || (base === 'Float' && FLOAT.test(plain))) {
    // JSON has neither a plus, nor zeros in front, nor a point without digits on both sides.
    const digits = plain.replace(/^[-+]/, '').replace(/^0+(?=\d)/, '').replace(/^\./, '0.').replace(/\.(?=\D|$)/, '.0');
    return plain.startsWith('-') ? `-${digits}` : digits;
  }
  return JSON.stringify(field);
}

/** Names for columns, of which no two are the same: what stands in the first record, as the language takes names. */
export function columnNames(heads) {
  const used = new Set();
  return heads.map((head, i) => {
    const plain = (head ?? '').trim().replace(/[^\p{ID_Continue}]+/gu, '_').replace(/^_+|_+$/g, '');
    const name = /^\p{ID_Start}/u.test(plain) ? plain : `c${i + 1}${plain && `_${plain}`}`;
    let free = name;
    for (let n = 2; used.has(free); n += 1) free = `${name}_${n}`;
    used.add(free);
    return free;
  });
}
