// Workflows and their executions; of one of them the graph and when each part ran.

import {get, path, Refusal} from './api.js';
import {badge, empty, follow, h, panel, setAttribute, setBadge, setText, toneOf} from './dom.js';
import {ExecutionDetail} from './execution.js';
import {clock, count, duration} from './format.js';
import {Graph} from './graph.js';
import {Table} from './table.js';
import {bar, seconds, showBar} from './timeline.js';

const page = 50;
const noEngine = 'This server runs no workflows.';
const unfinished = 'waiting,delayed,rate_limited,waiting_children,active,suspended';
const choices = [['unfinished', unfinished], ['failed', 'failed'], ['completed', 'completed'], ['all', '']];

const shortId = (id) => (id.length > 14 ? `…${id.slice(-10)}` : id);
const reference = (id) => `#/workflows/${encodeURIComponent(id)}`;
const executionReference = (id) => `#/workflows/execution/${encodeURIComponent(id)}`;

function countsText(workflow) {
  return Object.entries(workflow.counts ?? {}).map(([state, number]) => `${count(number)} ${state.replaceAll('_', ' ')}`).join(', ');
}

function took(node, now) {
  const begin = seconds(node.started);
  return begin === null ? null : Math.max((seconds(node.ended) ?? now) - begin, 0);
}

/** A page of a list, with buttons to turn it. */
class Pager {
  #trail = [null];
  #next = null;
  #buttons;

  constructor(again) {
    const turn = (change) => () => {
      change();
      again();
    };
    this.#buttons = [
      h('button', {type: 'button', class: 'quiet', onclick: turn(() => { this.#trail = [null]; })}, 'First'),
      h('button', {type: 'button', class: 'quiet', onclick: turn(() => this.#trail.push(this.#next))}, 'Next'),
    ];
    this.element = h('div', {class: 'buttons start'}, ...this.#buttons);
    this.took(null);
  }

  get query() {
    const after = this.#trail.at(-1);
    return `limit=${page}${after ? `&after=${encodeURIComponent(after)}` : ''}`;
  }

  first() {
    this.#trail = [null];
  }

  took(next) {
    this.#next = next;
    this.#buttons[0].disabled = this.#trail.length === 1;
    this.#buttons[1].disabled = !next;
    this.element.hidden = this.#buttons.every((button) => button.disabled);
  }
}

/** One workflow. */
class Detail {
  #graph = new Graph('The executions of the workflow, a drawing that can be scrolled; the timeline has them as a table');
  #now = 0;
  #span = {first: 0, last: 0};
  #facts = h('dl', {class: 'facts-list'});
  #cut = h('p', {class: 'hint'});
  #state = badge('');
  #timeline = new Table('Timeline', [
    {title: 'Execution', first: true, value: (node) => node.kind, text: (node) => node.kind},
    {title: 'State', value: (node) => node.state, cell: () => badge(''), show: (cell, node) => setBadge(cell, node.state)},
    {title: 'Attempts', numeric: true, rest: true, value: (node) => node.attempts, text: (node) => count(node.attempts)},
    {title: 'Started', numeric: true, rest: true, value: (node) => seconds(node.started), text: (node) => (node.started ? clock(node.started) : '')},
    {title: 'Took', numeric: true, value: (node) => took(node, this.#now), text: (node) => duration(took(node, this.#now))},
    {title: 'When', wide: true, cell: bar, show: (cell, node) => showBar(cell, {created: seconds(node.created),
      started: seconds(node.started), ended: seconds(node.ended), tone: toneOf(node.state)}, this.#span)},
  ], {key: (node) => node.id});

  constructor() {
    this.element = h('div', {},
      panel('Workflow', {class: 'wide'}, h('p', {}, this.#state), this.#facts, h('p', {}, h('a', {href: '#/workflows'}, 'All workflows'))),
      panel('Executions and edges', {class: 'wide'}, this.#cut, this.#graph.element),
      panel('Timeline', {class: 'wide'}, this.#timeline.element));
  }

  show(workflow, graph, now) {
    this.#now = now;
    setBadge(this.#state, workflow.state);
    follow(this.#facts, [
      ['Kind', workflow.kind], ['Id', workflow.id], ['Namespace', workflow.namespace],
      ['Executions', countsText(workflow) || 'none'], ['Created', clock(workflow.created)],
      ['Ended', workflow.ended ? clock(workflow.ended) : 'not yet'], ['If one fails', workflow.on_failure],
    ].filter(([, text]) => text), ([name]) => name, ([name]) => h('div', {}, h('dt', {}, name), h('dd')),
    (row, [, text]) => setText(row.lastChild, text));
    this.#cut.hidden = !graph.truncated;
    setText(this.#cut, `Only the first ${count(graph.nodes.length)} executions are shown.`);
    const times = graph.nodes.flatMap((node) => [seconds(node.created), seconds(node.ended)]).filter((time) => time !== null);
    const isOver = graph.nodes.every((node) => node.ended);
    this.#span = {first: Math.min(...times), last: isOver ? Math.max(...times) : now};
    this.#draw(graph);
    // Those that have not begun come last.
    const begin = (node) => seconds(node.started) ?? Number.MAX_VALUE;
    this.#timeline.show([...graph.nodes].sort((a, b) => begin(a) - begin(b)));
  }

  #draw({nodes, edges}) {
    const there = new Set(nodes.map((node) => node.id));
    this.#graph.show(
      nodes.map((node) => ({name: node.id, title: node.kind, tone: toneOf(node.state),
        lines: [node.state.replaceAll('_', ' '), node.started ? duration(took(node, this.#now)) : shortId(node.id)]})),
      edges.filter((edge) => there.has(edge.upstream) && there.has(edge.downstream)).map((edge) => ({
        from: edge.upstream, to: edge.downstream, label: edge.input ?? '', tone: toneOf(edge.state), weight: 0.1})));
  }
}

export class Workflows {
  title = 'Workflows';
  #workflows = null;
  #executions = null;
  #selected = null;
  #chosen = choices[0][1];
  #none = empty('Asking the server.');
  #detail = new Detail();
  #executionDetail = new ExecutionDetail();
  #workflowPager;
  #executionPager;
  #table = new Table('Workflows', [
    {title: 'Id', first: true, cell: () => h('a'), show: (link, workflow) => {
      setText(link, shortId(workflow.id));
      setAttribute(link, 'href', reference(workflow.id));
      setAttribute(link, 'title', workflow.id);
    }},
    {title: 'Kind', value: (workflow) => workflow.kind, text: (workflow) => workflow.kind},
    {title: 'State', value: (workflow) => workflow.state, cell: () => badge(''), show: (cell, workflow) => setBadge(cell, workflow.state)},
    {title: 'Executions', wide: true, rest: true, text: countsText},
    {title: 'Created', numeric: true, rest: true, value: (workflow) => seconds(workflow.created), text: (workflow) => clock(workflow.created)},
  ], {key: (workflow) => workflow.id});
  #executionTable = new Table('Executions', [
    {title: 'Kind', first: true, value: (execution) => execution.kind, cell: () => h('a'), show: (link, execution) => {
      setText(link, execution.kind);
      setAttribute(link, 'href', executionReference(execution.id));
    }},
    {title: 'State', value: (execution) => execution.state, cell: () => badge(''), show: (cell, execution) => setBadge(cell, execution.state)},
    {title: 'Workflow', cell: () => h('a'), show: (link, execution) => {
      setText(link, execution.workflow ? shortId(execution.workflow) : '');
      setAttribute(link, 'href', execution.workflow ? reference(execution.workflow) : null);
    }},
    {title: 'Lane', rest: true, value: (execution) => execution.lane, text: (execution) => execution.lane},
    {title: 'Worker', rest: true, value: (execution) => execution.worker ?? '', text: (execution) => execution.worker ?? ''},
    {title: 'Created', numeric: true, rest: true, value: (execution) => seconds(execution.created), text: (execution) => clock(execution.created)},
    {title: 'Reason', rest: true, wide: true, text: (execution) => execution.reason ?? ''},
  ], {key: (execution) => execution.id});
  #noWorkflows = empty('There are none.');
  #noExecutions = empty('There are none in this state.');

  constructor(context) {
    this.#workflowPager = new Pager(context.again);
    this.#executionPager = new Pager(context.again);
    const select = h('select', {id: 'execution-state', onchange: (event) => {
      this.#chosen = event.target.value;
      this.#executionPager.first();
      context.again();
    }}, ...choices.map(([name, value]) => h('option', {value}, name)));
    this.list = h('div', {},
      panel('Executions', {class: 'wide'},
        h('div', {class: 'tools'}, h('label', {for: 'execution-state'}, 'Show'), select, this.#executionPager.element),
        this.#executionTable.element, this.#noExecutions),
      panel('Workflows', {class: 'wide'}, this.#workflowPager.element, this.#table.element, this.#noWorkflows));
    this.element = h('div', {}, this.#none, this.list, this.#detail.element, this.#executionDetail.element);
  }

  async load([id, executionId] = [], model = null) {
    if (model?.overview && model.overview.executions === null) {
      setText(this.#none, noEngine);
      return;
    }
    try {
      if (executionId) {
        const place = path('executions', executionId);
        const execution = await get(place);
        const {attempts} = await get(`${place}/attempts`);
        this.#selected = {execution, attempts, journal: await get(`${place}/journal`)};
      } else if (id) {
        const workflow = await get(path('workflows', id));
        const graph = await get(`${path('workflows', id)}/graph`);
        this.#selected = {workflow, graph};
      } else {
        this.#selected = null;
        const state = this.#chosen ? `&state=${this.#chosen}` : '';
        this.#executions = await get(`/api/v1/executions?${this.#executionPager.query}${state}`);
        this.#workflows = await get(`/api/v1/workflows?${this.#workflowPager.query}`);
      }
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || refusal.status !== 404) throw refusal;
      this.#selected = null;
      this.#executions = null;
      this.#workflows = null;
      setText(this.#none, id && !['no_engine', 'unknown_path'].includes(refusal.code)
        ? `This ${executionId ? 'execution' : 'workflow'} is not there any more.` : noEngine);
    }
  }

  show(model) {
    const isList = this.#workflows !== null && this.#selected === null;
    this.#none.hidden = isList || this.#selected !== null;
    this.list.hidden = !isList;
    this.#detail.element.hidden = !this.#selected?.workflow;
    this.#executionDetail.element.hidden = !this.#selected?.execution;
    const now = seconds(model.overview?.time) ?? Date.now() / 1000;
    if (this.#selected?.execution) {
      this.#executionDetail.show(this.#selected, now);
    } else if (this.#selected) {
      this.#detail.show(this.#selected.workflow, this.#selected.graph, now);
    } else if (isList) {
      this.#showList();
    }
  }

  #showList() {
    this.#table.show(this.#workflows.workflows);
    this.#executionTable.show(this.#executions.executions);
    for (const [table, none, list] of [[this.#table, this.#noWorkflows, this.#workflows.workflows],
      [this.#executionTable, this.#noExecutions, this.#executions.executions]]) {
      table.element.hidden = list.length === 0;
      none.hidden = list.length > 0;
    }
    this.#workflowPager.took(this.#workflows.next);
    this.#executionPager.took(this.#executions.next);
  }
}
