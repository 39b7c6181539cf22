// One execution: what is known of it, its attempts, and its journal, which says what was done when.

import {badge, empty, follow, h, panel, setBadge, setText, toneOf} from './dom.js';
import {clock, count, duration} from './format.js';
import {Table} from './table.js';
import {bar, seconds, showBar} from './timeline.js';

const shown = 200;
const words = (name) => (name ?? '').replaceAll('_', ' ');

export class ExecutionDetail {
  #now = 0;
  #span = {first: 0, last: 0};
  #state = badge('');
  #facts = h('dl', {class: 'facts-list'});
  #attempts = new Table('Attempts', [
    {title: 'Attempt', first: true, numeric: true, text: (attempt) => count(attempt.attempt + 1)},
    {title: 'Outcome', text: (attempt) => words(attempt.outcome) || 'under way'},
    {title: 'Worker', rest: true, text: (attempt) => attempt.worker ?? ''},
    {title: 'Took', numeric: true, text: (attempt) => duration((seconds(attempt.ended) ?? this.#now) - seconds(attempt.started))},
    {title: 'Reason', wide: true, text: (attempt) => attempt.reason ?? ''},
  ], {key: (attempt) => attempt.attempt});
  #journal = new Table('Journal', [
    {title: 'Entry', first: true, text: (entry) => entry.name || words(entry.kind)},
    {title: 'Kind', text: (entry) => words(entry.kind)},
    {title: 'After', numeric: true, text: (entry) => duration(entry.done - this.#span.first)},
    {title: 'When', wide: true, cell: bar, show: (cell, entry) => showBar(cell, {created: entry.begun, started: entry.begun,
      ended: entry.done, tone: toneOf(entry.failed ? 'failed' : 'completed')}, this.#span)},
  ], {key: (entry) => entry.number});
  #cut = h('p', {class: 'hint'});
  #noJournal = empty('Nothing is in its journal: only durable coroutines keep one.');

  constructor() {
    this.element = h('div', {},
      panel('Execution', {class: 'wide'}, h('p', {}, this.#state), this.#facts, h('p', {}, h('a', {href: '#/workflows'}, 'All executions'))),
      panel('Journal', {class: 'wide'}, this.#cut, this.#journal.element, this.#noJournal),
      panel('Attempts', {class: 'wide'}, this.#attempts.element));
  }

  show({execution, attempts, journal}, now) {
    this.#now = now;
    setBadge(this.#state, execution.state);
    follow(this.#facts, [
      ['Kind', execution.kind], ['Id', execution.id], ['Namespace', execution.namespace], ['Lane', execution.lane],
      ['Made by', execution.creator], ['Created', clock(execution.created)],
      ['Ended', execution.ended ? clock(execution.ended) : 'not yet'], ['Waits for', words(execution.waits_for)], ['Reason', execution.reason],
    ].filter(([, text]) => text), ([name]) => name, ([name]) => h('div', {}, h('dt', {}, name), h('dd')),
    (row, [, text]) => setText(row.lastChild, text));
    this.#showJournal(journal, seconds(execution.started) ?? seconds(execution.created), seconds(execution.ended) ?? now);
    this.#attempts.show(attempts);
  }

  /** Each entry from the one before it on: that is when its work was done. */
  #showJournal({entries}, first, last) {
    this.#span = {first, last};
    let before = first;
    this.#journal.show(entries.map((entry) => {
      const begun = before;
      before = seconds(entry.at);
      return {...entry, begun, done: before};
    }).slice(-shown));
    this.#journal.element.hidden = entries.length === 0;
    this.#noJournal.hidden = entries.length > 0;
    this.#cut.hidden = entries.length <= shown;
    setText(this.#cut, `Only the last ${count(shown)} of ${count(entries.length)} entries are shown.`);
  }
}
