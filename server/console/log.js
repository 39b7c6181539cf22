// The newest commits.

import {get} from './api.js';
import {h, panel, setAttribute, setText} from './dom.js';
import {clock, count, number, plural} from './format.js';
import {Table} from './table.js';

const kept = 100;
const pauseMax = 5000;  // milliseconds

/** `orders +1 ~2` */
function changes({name, inserts, updates, removes}) {
  const parts = [[inserts, '+'], [updates, '~'], [removes, '−']].filter(([rows]) => number(rows) > 0);
  return `${name} ${parts.map(([rows, sign]) => `${sign}${count(rows)}`).join(' ')}`;
}

export class Log {
  title = 'Log';
  #records = [];
  #after = null;
  #isPaused = false;
  #asked = 0;
  #said = h('p', {class: 'hint'});
  #pause = h('button', {type: 'button', class: 'quiet', 'aria-pressed': 'false', onclick: () => this.#toggle()}, 'Pause');
  #table = new Table('Commits, the newest first', [
    {title: 'Version', first: true, numeric: true, text: (record) => count(record.version)},
    {title: 'Time', rest: true, text: (record) => clock(record.time)},
    {title: 'By', rest: true, text: (record) => record.origin},
    {title: 'Rows', wide: true, text: (record) => record.spaces.map(changes).join(', ') || 'none'},
    {title: 'Trace', rest: true, text: (record) => (record.trace ? record.trace.slice(0, 8) : '')},
  ], {key: (record) => record.version});

  constructor() {
    this.element = h('div', {}, panel('Commits', {class: 'wide'},
      h('div', {class: 'tools'}, this.#pause, this.#said), this.#table.element));
  }

  async load() {
    if (this.#isPaused) return;
    // Of what came while nobody looked, the server may have forgotten some.
    const now = performance.now();
    if (now - this.#asked > pauseMax) this.#after = null;
    this.#asked = now;
    const after = this.#after === null ? '' : `&after=${this.#after}`;
    let page;
    try {
      page = await get(`/api/v1/log?limit=${kept}${after}`);
    } catch (refusal) {
      // It was too slow, or this is another log.
      if (this.#after === null || refusal.status === 0 || refusal.status === 401) throw refusal;
      this.#after = null;
      return;
    }
    const isAhead = number(page.newest) - number(page.after) > kept;
    const isOther = number(page.newest) < number(this.#after ?? 0);
    this.#after = isAhead || isOther ? null : page.after;
    this.#records = (isOther ? [] : [...page.records.toReversed(), ...this.#records]).slice(0, kept);
    setText(this.#said, `The log has versions ${count(page.oldest)} to ${count(page.newest)}; the newest ${count(kept)} are shown. `
      + '+ inserted, ~ updated, − removed.');
  }

  show() {
    const seen = new Set();
    this.#table.show(this.#records.filter(({version}) => !seen.has(version) && seen.add(version)));
  }

  #toggle() {
    this.#isPaused = !this.#isPaused;
    setAttribute(this.#pause, 'aria-pressed', this.#isPaused);
    setText(this.#pause, this.#isPaused ? 'Go on' : 'Pause');
    if (this.#isPaused) setText(this.#said, `Paused at ${plural(this.#records.length, 'commit')}.`);
    else this.#after = null;
  }
}
