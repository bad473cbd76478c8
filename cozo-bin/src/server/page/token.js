// The token of a server that asks for one. It is kept until the tab is closed, and nowhere else.

import { at } from './dom.js';
import { session } from './storage.js';

let token = session.read('token', '');
let asking = null;

/** The token that requests carry, or nothing. */
export const current = () => token;

/** Asks the user for a token. Whoever asks meanwhile gets the same answer: whether there is a new one. */
export function ask(refused) {
  asking ??= show(refused).finally(() => { asking = null; });
  return asking;
}

function show(refused) {
  const [dialog, input] = [at('token-dialog'), at('token')];
  at('token-refused').hidden = !refused;
  input.value = '';
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise(answer => {
    dialog.addEventListener('close', () => {
      const given = dialog.returnValue === 'use';
      if (given) {
        token = input.value.trim();
        session.write('token', token || null);
      }
      input.value = '';
      answer(given);
    }, { once: true });
  });
}
