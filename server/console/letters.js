// Messages that nobody handled.

import {get} from './api.js';
import {empty, follow, h, panel, setText} from './dom.js';
import {clock, count, number, typeName} from './format.js';
import {Table} from './table.js';

const reasons = {
  mailbox_full: 'refused: there was no room',
  actor_stopped: 'the actor had stopped',
  dropped_newest: 'discarded as the mailbox was full',
  dropped_oldest: 'discarded to make room',
  late_reply: 'the reply came when nobody waited for it any more',
  abandoned: 'who asked had given up before',
  stash_full: 'set aside, but too many were already',
};

export class Letters {
  title = 'Dead letters';
  #letters = null;
  #counts = h('dl', {class: 'facts-list'});
  #none = empty('Every message was handled.');
  #table = new Table('The newest', [
    {title: 'Time', first: true, text: (letter) => clock(letter.time)},
    {title: 'Message', wide: true, text: (letter) => typeName(letter.message)},
    {title: 'Receiver', wide: true, text: (letter) => letter.actor_name || `${typeName(letter.actor_type)} #${letter.actor}`},
    {title: 'Reason', rest: true, text: (letter) => letter.reason.replaceAll('_', ' ')},
  ], {key: (letter) => letter.key});

  constructor() {
    this.element = h('div', {},
      panel('By reason', {class: 'wide'}, h('p', {class: 'hint'}, 'Since the start.'), this.#counts),
      panel('The newest', {class: 'wide'}, this.#table.element, this.#none));
  }

  async load() {
    this.#letters = await get('/api/v1/dead_letters');
  }

  show() {
    if (!this.#letters) return;
    follow(this.#counts, Object.entries(this.#letters.counts), ([reason]) => reason,
      ([reason]) => h('div', {}, h('dt', {}, reason.replaceAll('_', ' ')), h('dd'), h('dd', {class: 'more'}, reasons[reason] ?? '')),
      (row, [, total]) => setText(row.children[1], count(total)));
    const {newest, total} = this.#letters;
    this.#table.element.hidden = newest.length === 0;
    this.#none.hidden = newest.length > 0;
    // They are numbered from the first on, so that rows stay where they are as others come.
    this.#table.show(newest.map((letter, index) => ({...letter, key: number(total) - index})));
  }
}
