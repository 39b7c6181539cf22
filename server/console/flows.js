// Tables and views as a graph, with what goes along its edges.

import {badge, empty, h, panel, setBadge, toneOf} from './dom.js';
import {compact, duration, number, plural, rate} from './format.js';
import {Graph} from './graph.js';
import {Table} from './table.js';

const kinds = {table: 'table', view: 'view', ring_buffer: 'ring buffer', series: 'series'};

function secondLine(node) {
  if (node.kind !== 'view') return `${compact(node.rows_out)} changes`;
  if (node.progress) {
    const {rows_done: done, rows_total: total} = node.progress;
    return number(total) > 0 ? `filling, ${Math.floor((100 * number(done)) / number(total))} %` : 'filling';
  }
  return node.state === 'live' ? `lag ${duration(node.lag_seconds)}` : String(node.state ?? 'new').replaceAll('_', ' ');
}

/** Between nothing and the busiest edge, by orders of magnitude. */
function weights(rates) {
  const most = Math.max(1, ...rates.map((value) => value ?? 0));
  return rates.map((value) => (value ? Math.log1p(value) / Math.log1p(most) : 0));
}

/** The drawing alone. */
export class FlowGraph {
  #graph = new Graph('Tables and views, a drawing that can be scrolled; the section Flows has it as a table');
  #none = empty('There are no tables yet.');

  constructor() {
    this.#none.hidden = true;
    this.element = h('div', {}, this.#graph.element, this.#none);
  }

  show(model) {
    const {nodes, edges} = model.flows;
    this.#graph.element.hidden = nodes.length === 0;
    this.#none.hidden = nodes.length > 0;
    const there = new Set(nodes.map((node) => node.name));
    const seen = edges.filter((edge) => there.has(edge.from) && there.has(edge.to));
    const rates = seen.map((edge) => model.rowsAlong(edge));
    const weight = weights(rates);
    this.#graph.show(
      nodes.map((node) => ({
        name: node.name,
        title: node.name,
        href: node.kind === 'view' ? `#/views/${encodeURIComponent(node.name)}` : null,
        tone: node.kind === 'view' ? toneOf(node.state) : 'plain',
        lines: [`${kinds[node.kind]}, ${rate(model.rowsOut(node))}/s`, secondLine(node)],
      })),
      seen.map((edge, index) => ({
        from: edge.from,
        to: edge.to,
        label: rates[index] === null ? '' : `${rate(rates[index])}/s`,
        weight: weight[index],
        moves: rates[index] > 0,
      })));
  }
}

export class Flows {
  title = 'Flows';
  needsFlows = true;
  #graph = new FlowGraph();
  #model = null;
  #nodes = new Table('Tables and views', [
    {title: 'Name', first: true, value: (node) => node.name, text: (node) => node.name},
    {title: 'Kind', rest: true, value: (node) => node.kind, text: (node) => kinds[node.kind]},
    {title: 'State', value: (node) => node.state ?? '', cell: () => badge(''), show: (cell, node) => setBadge(cell, node.state ?? '')},
    {title: 'Reads', rest: true, wide: true, text: (node) => this.#sources(node)},
    {title: 'In/s', numeric: true, value: (node) => this.#model.rowsIn(node),
      text: (node) => (node.kind === 'view' ? rate(this.#model.rowsIn(node)) : '')},
    {title: 'Out/s', numeric: true, value: (node) => this.#model.rowsOut(node), text: (node) => rate(this.#model.rowsOut(node))},
    {title: 'Changes', numeric: true, rest: true, value: (node) => number(node.rows_out), text: (node) => compact(node.rows_out)},
  ], {key: (node) => node.name});
  #edges = new Table('Edges', [
    {title: 'From', first: true, value: (edge) => edge.from, text: (edge) => edge.from},
    {title: 'To', value: (edge) => edge.to, text: (edge) => edge.to},
    {title: 'Rows/s', numeric: true, value: (edge) => this.#model.rowsAlong(edge), text: (edge) => rate(this.#model.rowsAlong(edge))},
    {title: 'Rows', numeric: true, value: (edge) => number(edge.rows), text: (edge) => compact(edge.rows)},
  ], {key: (edge) => `${edge.from} ${edge.to}`});
  #said = h('p', {class: 'hint'});

  constructor() {
    this.element = h('div', {},
      panel('Graph', {class: 'wide'}, this.#said, this.#graph.element),
      h('div', {class: 'columns'},
        panel('Nodes', {}, this.#nodes.element),
        panel('Edges', {}, this.#edges.element)));
  }

  #sources(node) {
    return this.#model.flows.edges.filter((edge) => edge.to === node.name).map((edge) => edge.from).join(', ');
  }

  show(model) {
    if (!model.flows) return;
    this.#model = model;
    const {nodes, edges} = model.flows;
    this.#said.textContent = `${plural(nodes.length, 'node')}, ${plural(edges.length, 'edge')}. Each edge shows the changes `
      + 'of rows that a view was given in a second; an update is two, one row that goes and one that comes.';
    this.#graph.show(model);
    this.#nodes.show(nodes);
    this.#edges.show(edges);
  }
}
