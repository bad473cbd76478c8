// Elements. Whatever comes from the database becomes text nodes here, never markup.

/**
 * Makes an element. A property that is a function listens to the event of its name, `dataset` is an object, `class` and all
 * others are attributes; null and false leave one out, true makes it empty. Children are elements or texts.
 */
export function element(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

/** Makes an element of a drawing. */
export function drawn(name, properties = {}, ...children) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', name), properties, children);
}

function filled(made, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === 'function') made.addEventListener(key, value);
    else if (key === 'dataset') Object.assign(made.dataset, value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return made;
}

/** The element with an id. */
export const at = id => document.getElementById(id);

/** A button with a text. */
export const button = (text, click, properties = {}) => element('button', { type: 'button', click, ...properties }, text);

/** Says something to those who do not see the page; the others see it anyway. */
export function say(text) {
  at('said').textContent = text;
}

/** Says something to those who do not see the page, and shows it for a moment to those who do. */
export function announce(text) {
  const place = at('announcement');
  place.textContent = text;
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => { place.textContent = ''; }, 4000);
}
