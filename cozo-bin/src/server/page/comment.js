// Lines that become comments, or stop being ones.

/**
 * The lines from `start` to `end` of a text as comments, or without their signs if all of them are comments already. Gives what to
 * replace: `{from, to, text}`.
 */
export function toggled(text, start, end) {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  // A selection that ends at the beginning of a line does not mean that line.
  const last = end > start && text[end - 1] === '\n' ? end - 1 : end;
  const to = text.indexOf('\n', last) < 0 ? text.length : text.indexOf('\n', last);
  const lines = text.slice(from, to).split('\n');
  const written = lines.filter(line => line.trim());
  const areComments = written.length > 0 && written.every(line => line.trimStart().startsWith('#'));
  const margin = Math.min(...written.map(line => /^[ \t]*/.exec(line)[0].length));
  const change = line => {
    if (areComments) return line.replace(/^([ \t]*)# ?/, '$1');
    return line.trim() || !written.length ? `${line.slice(0, margin)}# ${line.slice(margin)}` : line;
  };
  return { from, to, text: lines.map(change).join('\n') };
}
