// Requests to the server that the page comes from.

import { parse } from './json.js';
import * as token from './token.js';

/** What the server, or the database, has against a script. */
export class Refusal extends Error {
  constructor(error, status) {
    super(error.message ?? `the server answers with status ${status}`);
    this.code = error.code ?? '';
    this.help = error.help ?? '';
    this.causes = error.causes ?? [];
    /** `{label, span: {offset, length}}`, in bytes of the script as UTF-8. */
    this.labels = error.labels ?? [];
  }
}

/** Whether a request ended because it was stopped here. */
export const wasStopped = error => error?.name === 'AbortError';

async function send(path, options) {
  const used = token.current();
  const headers = { 'content-type': 'application/json' };
  // Both the token of the server and those of a relation of tokens may come this way.
  if (used) headers.authorization = `Bearer ${used}`;
  const response = await fetch(path, { ...options, headers }).catch(error => {
    throw wasStopped(error) ? error : new Refusal({ message: 'the server does not answer' });
  });
  if (response.status !== 401) return response;
  // Another request may have got a new token meanwhile.
  const again = token.current() !== used || (await token.ask(Boolean(used)));
  if (!again) throw new Refusal({ message: 'the server needs a token' }, 401);
  return send(path, options);
}

/**
 * The result of a script: `{headers, rows, next, took}`, and perhaps `warnings`, a list of texts. `parameters` is the text of a JSON
 * object.
 */
export async function query(script, { parameters = '{}', signal } = {}) {
  const body = `{"script":${JSON.stringify(script)},"params":${parameters}}`;
  return answer(await send('text-query', { method: 'POST', body, signal }));
}

/** The scripts that run: `{id, seconds}`, and `script`, `client` and `agent` for those who may know. */
export const listRunning = async () => (await answer(await send('running', {}))).running;

/** Stops a script. */
export const stopRunning = async id => answer(await send(`running/${id}`, { method: 'DELETE' }));

/** Adds rows to a relation: all of them or, if it fails, none. `body` is JSON as the server's `/import` takes it. */
export const importRelation = async body => answer(await send('import', { method: 'PUT', body }));

/** The JSON of a response that says that all is well. */
async function answer(response) {
  const text = await response.text();
  let found;
  try {
    found = parse(text);
  } catch (error) {
    throw new Refusal(response.ok ? { message: `the answer cannot be read: ${error.message}` } : {}, response.status);
  }
  if (!response.ok || found.ok !== true) throw new Refusal(found, response.status);
  return found;
}

/** The words of the language with what they mean. */
export async function vocabulary() {
  const response = await fetch('page/vocabulary.json');
  if (!response.ok) throw new Refusal({}, response.status);
  return response.json();
}
