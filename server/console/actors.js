// The actors that are alive.

import {get} from './api.js';
import {badge, h, panel, setBadge, setText} from './dom.js';
import {count, duration, number, plural, rate, typeName} from './format.js';
import {Rates} from './series.js';
import {Table} from './table.js';

/** More are not of use, and take long to draw. */
const shown = 500;
/** Of more of them rates are known, so that those that rise are seen. */
const asked = 2000;

export class Actors {
  title = 'Actors';
  #rates = new Rates();
  #actors = [];
  #found = 0;
  #total = 0;
  #words = '';
  #said = h('p', {class: 'hint', role: 'status'});
  #filter = h('input', {type: 'search', id: 'actor-filter', placeholder: 'name, type or phase',
    oninput: (event) => {
      this.#words = event.target.value.trim();
      this.#ask();
    }});
  #table = new Table('Actors', [
    {title: 'Name', first: true, value: (actor) => actor.name, text: (actor) => actor.name || `#${actor.id}`},
    {title: 'Type', rest: true, wide: true, value: (actor) => typeName(actor.type), text: (actor) => typeName(actor.type)},
    {title: 'Phase', value: (actor) => actor.phase, cell: () => badge(''),
      show: (cell, actor) => setBadge(cell, actor.stopping ? 'stopping' : actor.phase)},
    {title: 'For', order: 'phase_age', numeric: true, rest: true, value: (actor) => (actor.phase ? actor.phase_seconds : null),
      text: (actor) => (actor.phase ? duration(actor.phase_seconds) : '')},
    {title: 'Mailbox', order: 'mailbox', numeric: true, value: (actor) => actor.mailbox_depth, cell: () => h('span', {class: 'mailbox'}, h('meter'), h('span'), h('span', {class: 'room'})),
      show: (cell, actor) => this.#showMailbox(cell, actor)},
    {title: 'Msgs/s', order: 'handled', numeric: true, value: (actor) => this.#rates.of(actor.id), text: (actor) => rate(this.#rates.of(actor.id))},
    {title: 'Messages', order: 'handled', numeric: true, rest: true, value: (actor) => number(actor.messages_handled), text: (actor) => count(actor.messages_handled)},
    {title: 'Restarts', order: 'restarts', numeric: true, rest: true, value: (actor) => actor.restarts, text: (actor) => count(actor.restarts)},
    {title: 'Last failure', rest: true, wide: true, value: (actor) => actor.last_failure, text: (actor) => actor.last_failure},
  ], {key: (actor) => actor.id, sorted: {title: 'Msgs/s', falls: true}, most: shown, onSort: () => this.#ask()});

  constructor() {
    this.element = h('div', {}, panel('Living actors', {class: 'wide'},
      h('div', {class: 'tools'}, h('label', {for: 'actor-filter'}, 'Show those with'), this.#filter, this.#said),
      this.#table.element));
  }

  async load() {
    const query = new URLSearchParams({limit: asked, sort: this.#table.sortedBy.order ?? 'id'});
    if (this.#words) query.set('contains', this.#words);
    const {actors, found, total} = await get(`/api/v1/actors?${query}`);
    [this.#actors, this.#found, this.#total] = [actors, number(found), number(total)];
    this.#rates.take(performance.now() / 1000, actors.map((actor) => [actor.id, actor.messages_handled]));
  }

  show() {
    const cut = this.#found > shown ? `, of which ${count(shown)} are listed` : '';
    setText(this.#said, `${plural(this.#found, 'actor')} of ${count(this.#total)}${cut}`);
    this.#table.show(this.#actors);
  }

  /** Without waiting for the next time, which also tells what is wrong. */
  async #ask() {
    try {
      await this.load();
      this.show();
    } catch {
      // The next time is soon.
    }
  }

  #showMailbox(cell, actor) {
    const [meter, text, room] = cell.children;
    const isBounded = actor.mailbox_capacity > 0 && actor.mailbox_capacity < 2 ** 31;
    meter.hidden = !isBounded;
    if (isBounded) {
      meter.max = actor.mailbox_capacity;
      meter.high = actor.mailbox_capacity * 0.8;
      meter.value = actor.mailbox_depth;
      meter.setAttribute('aria-label', `mailbox of ${actor.name || actor.id}`);
    }
    setText(text, count(actor.mailbox_depth));
    setText(room, isBounded ? ` / ${count(actor.mailbox_capacity)}` : '');
  }
}
