// Places in a script. The server counts bytes of UTF-8, JavaScript counts units of UTF-16.

/** The index in `text` of the character that a byte belongs to. */
export function indexOfByte(text, byte) {
  let [index, bytes] = [0, 0];
  while (index < text.length) {
    const code = text.codePointAt(index);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > byte) break;
    index += code < 0x10000 ? 1 : 2;
  }
  return index;
}

/** The line and the column of a place, both from 1. */
export function lineAndColumn(text, index) {
  const lines = text.slice(0, index).split('\n');
  return { line: lines.length, column: [...lines.at(-1)].length + 1 };
}

/**
 * The labels of an error as places of the script that the user sees: `{start, end, text}`. `prefix` was put before the script
 * when it was sent.
 */
export function marks(labels, script, prefix = '') {
  const sent = prefix + script;
  const place = byte => Math.min(Math.max(indexOfByte(sent, byte) - prefix.length, 0), script.length);
  return labels.map(({ label, span: { offset, length } }) => (
    { start: place(offset), end: place(offset + length), text: label ?? '' }
  ));
}
