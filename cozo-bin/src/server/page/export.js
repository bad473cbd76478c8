// Results as files, and on the clipboard.

import { announce, element } from './dom.js';
import { stringify } from './json.js';
import { text } from './values.js';

/** Comma-separated values as RFC 4180 has them; null is an empty field. */
export function csv({ headers, rows }) {
  const field = value => {
    const plain = value === null ? '' : text(value);
    // An empty string is not null.
    return /[",\r\n]/.test(plain) || value === '' ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  return [headers, ...rows].map(row => row.map(field).join(',')).join('\r\n') + '\r\n';
}

/** JSON as the server's `/import` takes it. */
export const json = ({ headers, rows }) => (
  `{"headers":${stringify(headers)},"rows":[\n${rows.map(row => stringify(row)).join(',\n')}\n]}\n`
);

/** What spreadsheets take from the clipboard. */
export const tabbed = ({ headers, rows }) => (
  [headers, ...rows].map(row => row.map(value => (value === null ? '' : text(value).replace(/[\t\r\n]+/g, ' '))).join('\t')).join('\n')
);

/** Has the browser save a text. */
export const save = (name, type, contents) => saveBlob(name, new Blob([contents], { type }));

/** Has the browser save anything. */
export function saveBlob(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = element('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Puts a text on the clipboard. */
export async function copy(contents, what) {
  try {
    await navigator.clipboard.writeText(contents);
  } catch {
    // Without encryption, browsers have only the old way.
    const area = element('textarea', { class: 'off-screen', 'aria-hidden': 'true' });
    area.value = contents;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (!done) {
      announce('the browser does not allow copying');
      return;
    }
  }
  announce(`copied ${what}`);
}
