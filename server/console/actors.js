// The actors that are alive.

import {get} from './api.js';
import {badge, h, panel, setBadge, setText} from './dom.js';
import {count, duration, number, plural, rate, typeName} from './format.js';
import {Rates} from './series.js';
import {Table} from './table.js';

/** More are not of use, and take long to draw. */
const shown = 500;

export class Actors {
  title = 'Actors';
  #rates = new Rates();
  #actors = [];
  #words = '';
  #said = h('p', {class: 'hint', role: 'status'});
  #filter = h('input', {type: 'search', id: 'actor-filter', placeholder: 'name, type or phase',
    oninput: (event) => {
      this.#words = event.target.value.trim().toLowerCase();
      this.#list();
    }});
  #table = new Table('Actors', [
    {title: 'Name', first: true, value: (actor) => actor.name, text: (actor) => actor.name || `#${actor.id}`},
    {title: 'Type', rest: true, wide: true, value: (actor) => typeName(actor.type), text: (actor) => typeName(actor.type)},
    {title: 'Phase', value: (actor) => actor.phase, cell: () => badge(''),
      show: (cell, actor) => setBadge(cell, actor.stopping ? 'stopping' : actor.phase)},
    {title: 'For', numeric: true, rest: true, value: (actor) => (actor.phase ? actor.phase_seconds : null),
      text: (actor) => (actor.phase ? duration(actor.phase_seconds) : '')},
    {title: 'Mailbox', numeric: true, value: (actor) => actor.mailbox_depth, cell: () => h('span', {class: 'mailbox'}, h('meter'), h('span'), h('span', {class: 'room'})),
      show: (cell, actor) => this.#showMailbox(cell, actor)},
    {title: 'Msgs/s', numeric: true, value: (actor) => this.#rates.of(actor.id), text: (actor) => rate(this.#rates.of(actor.id))},
    {title: 'Messages', numeric: true, rest: true, value: (actor) => number(actor.messages_handled), text: (actor) => count(actor.messages_handled)},
    {title: 'Restarts', numeric: true, rest: true, value: (actor) => actor.restarts, text: (actor) => count(actor.restarts)},
    {title: 'Last failure', rest: true, wide: true, value: (actor) => actor.last_failure, text: (actor) => actor.last_failure},
  ], {key: (actor) => actor.id, sorted: {title: 'Msgs/s', falls: true}});

  constructor() {
    this.element = h('div', {}, panel('Living actors', {class: 'wide'},
      h('div', {class: 'tools'}, h('label', {for: 'actor-filter'}, 'Show those with'), this.#filter, this.#said),
      this.#table.element));
  }

  async load() {
    this.#actors = (await get('/api/v1/actors')).actors;
    this.#rates.take(performance.now() / 1000, this.#actors.map((actor) => [actor.id, actor.messages_handled]));
  }

  show() {
    this.#list();
  }

  #list() {
    const text = (actor) => `${actor.name} ${actor.type} ${actor.phase} #${actor.id}`.toLowerCase();
    const found = this.#actors.filter((actor) => text(actor).includes(this.#words));
    const cut = found.length > shown ? `, of which ${count(shown)} are listed` : '';
    setText(this.#said, `${plural(found.length, 'actor')} of ${count(this.#actors.length)}${cut}`);
    this.#table.show(found.slice(0, shown));
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
