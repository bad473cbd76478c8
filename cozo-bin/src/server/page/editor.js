// The editor: a text area whose text is transparent, over a layer with the same text in colors.

import { toggled } from './comment.js';
import { element } from './dom.js';
import { tokens } from './lexer.js';
import { lineAndColumn } from './spans.js';

/** Longer texts are shown without colors, so that typing stays fast. */
const MOST_COLORED = 60_000;

const BRACKETS = { '(': ')', '[': ']', '{': '}' };

export class Editor {
  constructor(input, layer, gutter) {
    [this.input, this.layer, this.gutter] = [input, layer, gutter];
    this.marks = [];
    input.addEventListener('input', () => {
      this.marks = [];
      this.draw();
    });
    input.addEventListener('keydown', event => this.key(event));
    document.addEventListener('selectionchange', () => this.drawBrackets());
    this.draw();
  }

  get text() {
    return this.input.value;
  }

  get cursor() {
    return this.input.selectionStart;
  }

  /** Replaces a range in a way that the user can undo; `cursor` is where the cursor goes then. */
  replace(start, end, text, cursor = start + text.length) {
    this.input.focus();
    this.input.setSelectionRange(start, end);
    // There is no other way that keeps the history of undo.
    const done = text ? document.execCommand('insertText', false, text) : document.execCommand('delete');
    if (!done) {
      this.input.setRangeText(text, start, end, 'end');
      this.input.dispatchEvent(new Event('input'));
    }
    this.input.setSelectionRange(cursor, cursor);
  }

  /** The range of the selection: `[start, end]`. */
  get selection() {
    return [this.input.selectionStart, this.input.selectionEnd];
  }

  /** Makes the selected lines comments, or lines of code again; they stay selected. */
  toggleComment() {
    const [start, end] = this.selection;
    const { from, to, text } = toggled(this.text, start, end);
    this.replace(from, to, text);
    if (start !== end) this.input.setSelectionRange(from, from + text.length);
    else this.input.setSelectionRange(...Array(2).fill(Math.max(from, start + text.length - (to - from))));
  }

  /** Shows beside the lines which of them are run alone: `{first, last}`, or nothing. */
  showPart(part) {
    this.part = part;
    [...this.gutter.children].forEach((line, i) => line.classList.toggle('part', Boolean(part) && i + 1 >= part.first && i + 1 <= part.last));
  }

  /** Replaces all of the text. */
  load(text) {
    if (text !== this.text) this.replace(0, this.text.length, text);
    else this.input.focus();
  }

  /** Moves the cursor. */
  goTo(index) {
    this.input.focus();
    this.input.setSelectionRange(index, index);
    const { line } = lineAndColumn(this.text, index);
    this.gutter.children[line - 1]?.scrollIntoView({ block: 'nearest' });
  }

  /** Marks places, each with a note, until the text changes. */
  mark(marks) {
    this.marks = marks;
    this.draw();
  }

  key(event) {
    if (event.key === '/' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.toggleComment();
      return;
    }
    if (event.key !== 'Enter' || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.isComposing) return;
    // A new line begins as far in as this one, and further in after an opening bracket.
    const line = this.text.slice(0, this.cursor).split('\n').at(-1);
    const margin = /^[ \t]*/.exec(line)[0] + (/[([{]\s*$|:=\s*$/.test(line) ? '    ' : '');
    if (!margin) return;
    event.preventDefault();
    this.replace(this.cursor, this.input.selectionEnd, `\n${margin}`);
  }

  /** Where a place of the text is on the screen. */
  rectangle(index) {
    const walker = document.createTreeWalker(this.layer, NodeFilter.SHOW_TEXT);
    let rest = index;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement.classList.contains('mark-note')) continue;
      if (rest <= node.length) {
        const range = document.createRange();
        range.setStart(node, rest);
        const found = range.getBoundingClientRect();
        // An empty line has no rectangle.
        return found.height ? found : this.gutter.children[lineAndColumn(this.text, index).line - 1].getBoundingClientRect();
      }
      rest -= node.length;
    }
    return this.layer.getBoundingClientRect();
  }

  draw() {
    const { text } = this;
    const colored = text.length <= MOST_COLORED ? tokens(text) : [{ kind: 'name', text, start: 0, end: text.length }];
    this.layer.replaceChildren(...this.pieces(colored), '\n');
    this.drawNumbers(text.split('\n').length);
    this.drawBrackets();
  }

  /** Numbers the lines, of which those with marks stand out. */
  drawNumbers(lines) {
    const wrong = new Set(this.marks.map(mark => lineAndColumn(this.text, mark.start).line));
    const numbers = `${lines} ${[...wrong]}`;
    if (numbers === this.numbers) return;
    this.numbers = numbers;
    this.gutter.replaceChildren(...Array.from({ length: lines }, (_, i) => (
      element('div', { class: wrong.has(i + 1) ? 'wrong' : null }, String(i + 1))
    )));
    this.showPart(this.part);
  }

  /** The nodes of the layer: tokens, cut where marks begin and end, and the notes of marks at the ends of their lines. */
  pieces(colored) {
    const { text, marks } = this;
    const endOfLine = place => (text.indexOf('\n', place) < 0 ? text.length : text.indexOf('\n', place));
    const notes = marks.map(mark => ({ ...mark, at: endOfLine(mark.start) }));
    const cuts = [...new Set(notes.flatMap(mark => [mark.start, mark.end, mark.at]))].sort((a, b) => a - b);
    const nodes = [];
    const notesAt = place => notes.filter(note => note.at === place && note.text)
      .forEach(note => nodes.push(element('span', { class: 'mark-note' }, `  ${note.text}`)));
    for (const { kind, start, end } of colored) {
      let from = start;
      for (const to of [...cuts.filter(cut => cut > start && cut < end), end]) {
        if (cuts.includes(from)) notesAt(from);
        const marked = marks.some(mark => mark.start <= from && Math.max(mark.end, mark.start + 1) > from);
        nodes.push(element('span', { class: `token is-${kind}${marked ? ' marked' : ''}` }, text.slice(from, to)));
        from = to;
      }
    }
    // A mark behind the last character has none to stand under.
    if (marks.some(mark => mark.start === text.length)) nodes.push(element('span', { class: 'token marked at-end' }, '\u200b'));
    notesAt(text.length);
    return nodes;
  }

  /** Shows which bracket belongs to the one at the cursor. */
  drawBrackets() {
    this.layer.querySelectorAll('.matched').forEach(token => token.classList.remove('matched'));
    if (document.activeElement !== this.input || this.text.length > MOST_COLORED) return;
    const spans = [...this.layer.querySelectorAll('.token.is-punctuation')];
    const open = [];
    let place = 0;
    const starts = new Map();
    for (const node of this.layer.querySelectorAll('.token')) {
      starts.set(node, place);
      place += node.textContent.length;
    }
    const isHere = node => starts.get(node) === this.cursor || starts.get(node) === this.cursor - 1;
    for (const node of spans) {
      if (node.textContent in BRACKETS) open.push(node);
      else if (Object.values(BRACKETS).includes(node.textContent)) {
        const opening = open.pop();
        if (opening && BRACKETS[opening.textContent] === node.textContent && (isHere(opening) || isHere(node))) {
          opening.classList.add('matched');
          node.classList.add('matched');
          return;
        }
      }
    }
  }
}
