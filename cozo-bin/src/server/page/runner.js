// Runs what the editor has, or a part of it, and shows what comes of it.

import { query, wasStopped } from './api.js';
import { at } from './dom.js';
import { chain, showError, showNothing, showResult, status } from './results.js';
import { marks } from './spans.js';
import { counted, duration } from './values.js';

const EXPLAIN = '::explain analyze {\n';
/** What changes the relations, so that the list of them is read anew. */
const CHANGES_RELATIONS = /:(?:create|replace)\b|::(?:remove|rename|index|set_triggers|access_level|describe)\b/;
/** What changes their rows. */
const CHANGES_ROWS = /:(?:put|insert|update|rm|delete)\b/;

export class Runner {
  /** `parts` are the parts of the page: `{editor, history, relations, parameters()}`; the last gives nothing if they are wrong. */
  constructor(parts) {
    Object.assign(this, parts, { stopping: null });
  }

  stop() {
    this.stopping?.abort();
  }

  explain() {
    return this.run({ prefix: EXPLAIN, suffix: '\n}' });
  }

  /** Runs the script, or what of it is between `start` and `end`, with a prefix and a suffix around it. */
  async run({ prefix = '', suffix = '', start = 0, end = this.editor.text.length } = {}) {
    const parameters = this.parameters();
    if (parameters === null) {
      at('parameters').focus();
      showNothing('the parameters are no JSON object');
      return;
    }
    this.stop();
    const job = { whole: this.editor.text, script: this.editor.text.slice(start, end), prefix, start, began: performance.now() };
    const stopping = this.stopping = new AbortController();
    const clock = setInterval(() => status(`running, ${seconds(job).toFixed(1)} s`, '', true), 100);
    at('stop').disabled = false;
    this.editor.mark([]);
    try {
      this.succeed(job, await query(prefix + job.script + suffix, { parameters, signal: stopping.signal }));
    } catch (error) {
      if (stopping === this.stopping) this.fail(job, error);
    } finally {
      clearInterval(clock);
      if (stopping === this.stopping) {
        this.stopping = null;
        at('stop').disabled = true;
      }
    }
  }

  succeed(job, result) {
    const rows = chain(result).reduce((sum, part) => sum + part.rows.length, 0);
    showResult(result, { elapsed: seconds(job), script: job.script, source: this.relations });
    this.note(job, `${counted(rows, 'row')}, ${duration(result.took)}`, false);
    if (job.prefix) return;
    if (CHANGES_RELATIONS.test(job.script)) this.relations.load();
    else if (CHANGES_ROWS.test(job.script)) this.relations.count();
  }

  fail(job, error) {
    if (wasStopped(error)) {
      showNothing(`stopped after ${duration(seconds(job))}`);
      return;
    }
    const inPart = marks(error.labels ?? [], job.script, job.prefix);
    const places = inPart.map(place => ({ ...place, start: place.start + job.start, end: place.end + job.start }));
    // The script may have been changed meanwhile.
    if (this.editor.text === job.whole) this.editor.mark(places);
    showError(error, places, job.whole, place => this.editor.goTo(place));
    this.note(job, 'failed', true);
  }

  note({ script }, outcome, failed) {
    this.history.add({ script, parameters: at('parameters').value.trim(), outcome, failed });
  }
}

const seconds = ({ began }) => (performance.now() - began) / 1000;
