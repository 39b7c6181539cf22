// The first page: whether all is well, how much goes on, and what needs somebody.

import {follow, h, panel, setAttribute, setText} from './dom.js';
import {bytes, compact, count, duration, percent, plural, rate} from './format.js';
import {drawSparkline, sparkline} from './series.js';
import {FlowGraph} from './flows.js';

const tiles = [
  {name: 'commits', title: 'Commits', unit: '/s', show: rate},
  {name: 'rows', title: 'Rows changed', unit: '/s', show: rate},
  {name: 'messages', title: 'Messages', unit: '/s', show: rate},
  {name: 'lag', title: 'View lag', unit: '', show: duration},
  {name: 'cpu', title: 'Processor', unit: 'of a core', show: (cores) => (cores === null ? '–' : percent(cores))},
  {name: 'memory', title: 'Memory', unit: '', show: bytes},
];

function makeTile({title, unit}) {
  const value = h('span', {}, '–');
  const most = h('dd', {class: 'most'});
  const drawing = sparkline();
  const element = h('div', {class: 'tile'}, h('dt', {}, title),
    h('dd', {class: 'value'}, value, ' ', h('small', {}, unit)), most, drawing);
  return {element, value, most, drawing};
}

/** What somebody should look at, the worst first. */
function concerns(model) {
  const found = [];
  for (const view of model.views) {
    if (view.state === 'quarantined') {
      found.push({tone: 'bad', href: `#/views/${encodeURIComponent(view.name)}`, title: view.name,
        text: `stands still: ${view.error}`});
    } else if (view.stopped) {
      found.push({tone: 'wait', href: `#/views/${encodeURIComponent(view.name)}`, title: view.name,
        text: `waits for ${view.waits_for}`});
    } else if (view.state === 'failing') {
      found.push({tone: 'wait', href: `#/views/${encodeURIComponent(view.name)}`, title: view.name,
        text: `failed ${plural(view.failures, 'time')}, and is tried again: ${view.error}`});
    } else if (!view.exact) {
      found.push({tone: 'wait', href: `#/views/${encodeURIComponent(view.name)}`, title: view.name,
        text: 'has left something out: build it again when there is time'});
    }
  }
  if (model.rates.of('dead_letters') > 0) {
    found.push({tone: 'wait', href: '#/letters', title: 'dead letters',
      text: `${rate(model.rates.of('dead_letters'))} a second are not delivered`});
  }
  return found;
}

function facts(overview) {
  const views = overview.views;
  const work = overview.executions;
  return [
    ['Views', plural(views.total, 'view'), `${count(views.total - views.behind - views.filling)} live, `
      + `${count(views.filling)} filling, ${count(views.behind)} behind, ${count(views.quarantined)} quarantined`, '#/views'],
    ['Actors', plural(overview.actors, 'actor'), `${plural(overview.mailbox_depth, 'message')} waiting, `
      + `${plural(overview.restarts, 'restart')}`, '#/actors'],
    ['Workflows', work ? `${count(work.active)} active` : 'none', work
      ? `${count(work.waiting)} waiting, ${count(work.delayed)} delayed, ${count(work.suspended)} suspended`
      : 'this server runs no workflows', '#/workflows'],
    ['Dead letters', plural(overview.dead_letters, 'message'), 'not delivered since the start', '#/letters'],
    ['Log', `version ${count(overview.version)}`, `${compact(overview.commits)} commits since the start`, '#/log'],
    ['Process', plural(overview.threads, 'thread'), `${plural(overview.connections, 'connection')}, `
      + `${plural(overview.subscriptions, 'subscription')}`, null],
  ];
}

export class Overview {
  title = 'Overview';
  needsFlows = true;
  #tiles = tiles.map(makeTile);
  #concerns = h('ul', {class: 'concerns'});
  #facts = h('dl', {class: 'facts-list'});
  #graph = new FlowGraph();

  constructor() {
    this.element = h('div', {},
      h('dl', {class: 'tiles', 'aria-label': 'Figures of now, and of the last two minutes'},
        ...this.#tiles.map((tile) => tile.element)),
      h('div', {class: 'columns main-and-side'},
        h('div', {},
          panel('Needs attention', {}, this.#concerns),
          panel('Flow', {}, this.#graph.element)),
        panel('At a glance', {}, this.#facts)));
  }

  show(model) {
    if (model.flows) this.#graph.show(model);
    if (!model.overview) return;
    tiles.forEach((tile, index) => {
      const {value, most, drawing} = this.#tiles[index];
      const series = model.series[tile.name];
      setText(value, tile.show(series.last));
      setText(most, `highest ${tile.show(series.highest)}`);
      drawSparkline(drawing, series);
    });
    this.#showConcerns(concerns(model));
    follow(this.#facts, facts(model.overview), ([name]) => name,
      ([name, , , href]) => h('div', {}, h('dt', {}, href ? h('a', {href}, name) : name), h('dd', {}), h('dd', {class: 'more'})),
      (row, [, first, more]) => {
        setText(row.children[1], first);
        setText(row.children[2], more);
      });
  }

  #showConcerns(found) {
    const all = found.length > 0 ? found : [{tone: 'ok', title: 'All is well', text: 'every view follows, nothing waits for you'}];
    follow(this.#concerns, all, (one) => one.title,
      (one) => h('li', {}, one.href ? h('a', {href: one.href}, one.title) : h('strong', {}, one.title), ' ', h('span')),
      (row, one) => {
        setAttribute(row, 'data-tone', one.tone);
        setText(row.lastChild, one.text);
      });
  }
}
