// Views: how far each is behind, how far a new one has come, and what is done about those that failed.

import {path, post} from './api.js';
import {badge, empty, follow, h, panel, setAttribute, setBadge, setText} from './dom.js';
import {bytes, count, duration, number, plural, rate} from './format.js';
import {Table} from './table.js';

const actions = {
  resume: {
    title: 'Resume',
    text: 'It goes on where it stopped, with the input that it failed with. Choose this when the cause is gone.',
  },
  skip: {
    title: 'Skip the input',
    text: 'It goes on, but leaves out the first commit whose changes fail. From then on it may differ from its query '
      + 'until it is built again.',
  },
  rebuild: {
    title: 'Build again',
    text: 'Its rows are removed and computed again from its sources, and so are those of views that read it. '
      + 'They cannot be read until they are done.',
  },
};

function progressText({rows_done: done, rows_total: total, rate: speed, seconds_left: left}) {
  const known = number(total) > 0 ? `${count(done)} of about ${count(total)} rows` : `${count(done)} rows so far`;
  return `${known}, ${rate(speed)}/s${left === null ? '' : `, ${duration(left)} left`}`;
}

function showProgress(cell, view) {
  const [bar, text] = cell.children;
  cell.hidden = !view.progress;
  if (!view.progress) return;
  setAttribute(bar, 'aria-label', `${view.name} is filled`);
  setAttribute(bar, 'max', Math.max(number(view.progress.rows_total), 1));
  // Without a total there is no telling how far it is.
  setAttribute(bar, 'value', number(view.progress.rows_total) > 0 ? number(view.progress.rows_done) : null);
  setText(text, progressText(view.progress));
}

function progressCell() {
  return h('div', {class: 'progress', hidden: true}, h('progress'), h('small'));
}

const reference = (view) => `#/views/${encodeURIComponent(view.name)}`;

export class Views {
  title = 'Views';
  needsFlows = true;
  #context;
  #model = null;
  #stopped = h('ul', {class: 'cards'});
  #stoppedPanel = panel('Quarantine', {class: 'wide'},
    h('p', {class: 'hint'}, 'These stand still until somebody decides; the others go on.'), this.#stopped);
  #detail = h('div');
  #table = new Table('Views', [
    {title: 'Name', first: true, value: (view) => view.name, cell: () => h('a'),
      show: (link, view) => {
        setText(link, view.name);
        setAttribute(link, 'href', reference(view));
      }},
    {title: 'State', value: (view) => view.state ?? '', cell: () => badge(''), show: (cell, view) => setBadge(cell, view.state ?? 'new')},
    {title: 'Update', rest: true, value: (view) => view.mode, text: (view) => view.mode},
    {title: 'Lag', numeric: true, value: (view) => view.lag_seconds, text: (view) => duration(view.lag_seconds)},
    {title: 'Commits behind', numeric: true, rest: true, value: (view) => number(view.lag_versions), text: (view) => count(view.lag_versions)},
    {title: 'In/s', numeric: true, value: (view) => this.#model.rowsIn(view), text: (view) => rate(this.#model.rowsIn(view))},
    {title: 'Out/s', numeric: true, value: (view) => this.#model.rowsOut(view), text: (view) => rate(this.#model.rowsOut(view))},
    {title: 'Backfill', cell: progressCell, show: showProgress, wide: true},
  ], {key: (view) => view.name});
  #none = empty('There are no views.');

  /** `context` has `confirm`, `say` and `again`. */
  constructor(context) {
    this.#context = context;
    this.element = h('div', {}, this.#stoppedPanel, this.#detail,
      panel('All views', {class: 'wide'}, this.#table.element, this.#none));
  }

  show(model, [selected] = []) {
    if (!model.flows) return;
    this.#model = model;
    const stopped = model.views.filter((view) => view.state === 'quarantined');
    this.#stoppedPanel.hidden = stopped.length === 0;
    follow(this.#stopped, stopped, (view) => view.name, (view) => this.#makeCard(view), (card, view) => {
      setText(card.querySelector('.error'), view.error);
      setText(card.querySelector('.hint'), `${plural(view.failures, 'failure')} in a row. It shows version `
        + `${count(view.position)}, ${plural(view.lag_versions, 'commit')} behind.`);
    });
    this.#showDetail(model.views.find((view) => view.name === selected));
    this.#table.element.hidden = model.views.length === 0;
    this.#none.hidden = model.views.length > 0;
    this.#table.show(model.views);
  }

  #makeCard(view) {
    return h('li', {}, h('h4', {}, h('a', {href: reference(view)}, view.name), ' ', badge('quarantined')),
      h('p', {class: 'error'}), h('p', {class: 'hint'}), this.#makeButtons(view, Object.keys(actions)));
  }

  #makeButtons(view, names) {
    return h('div', {class: 'buttons start'}, ...names.map((name) => h('button', {
      type: 'button',
      class: name === 'resume' ? 'strong' : '',
      'data-action': name,
      'aria-label': `${actions[name].title}: ${view.name}`,
      onclick: () => this.#act(view.name, name),
    }, actions[name].title)));
  }

  async #act(view, name) {
    const {title, text} = actions[name];
    if (!await this.#context.confirm(`${title}: ${view}?`, text, title)) return;
    try {
      await post(path('views', view, name));
      this.#context.say(`${view}: ${title.toLowerCase()} was accepted`);
    } catch (refusal) {
      this.#context.say(`${view}: ${title.toLowerCase()} was refused: ${refusal.message}`, 'bad');
    }
    this.#context.again();
  }

  #showDetail(view) {
    if (!view) {
      this.#detail.replaceChildren();
      return;
    }
    follow(this.#detail, [view], (one) => one.name, (one) => this.#makeDetail(one), (element, one) => {
      setBadge(element.querySelector('.badge'), one.state ?? 'new');
      showProgress(element.querySelector('.progress'), one);
      const error = element.querySelector('.error');
      // Of those that stand still it is said above.
      error.hidden = !one.error || one.state === 'quarantined';
      setText(error, one.error ?? '');
      follow(element.querySelector('dl'), this.#factsOf(one), ([name]) => name,
        ([name]) => h('div', {}, h('dt', {}, name), h('dd')), (row, [, text]) => setText(row.lastChild, text));
    });
  }

  #makeDetail(view) {
    return panel(view.name, {class: 'wide'}, h('p', {}, badge('')), progressCell(),
      h('p', {class: 'error'}), h('dl', {class: 'facts-list'}),
      h('div', {class: 'buttons start'}, ...this.#makeButtons(view, ['rebuild']).children,
        h('a', {class: 'button', href: '#/views'}, 'Close')));
  }

  #factsOf(view) {
    const sources = this.#model.flows.edges.filter((edge) => edge.to === view.name).map((edge) => edge.from);
    const readers = this.#model.flows.edges.filter((edge) => edge.from === view.name).map((edge) => edge.to);
    return [
      ['Reads', sources.join(', ') || 'nothing that you may see'],
      ['Read by', readers.join(', ') || 'no view'],
      ['Shows', `version ${count(view.position)}`],
      ['Lag', `${duration(view.lag_seconds)}, ${plural(view.lag_versions, 'commit')}`],
      ['Rows', `${rate(this.#model.rowsIn(view))}/s in, ${rate(this.#model.rowsOut(view))}/s out`],
      ['Row errors', count(view.row_errors)],
      ['State in memory', bytes(view.state_bytes)],
      ['Exact', view.exact ? 'equal to its query' : `left out ${plural(view.skipped, 'commit')}`],
      ['Waits for', view.waits_for || 'nobody'],
    ];
  }
}
