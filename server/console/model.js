// What is known of the server: the newest answers, and the figures of the last two minutes.

import {get, Refusal} from './api.js';
import {number} from './format.js';
import {Rates, Series} from './series.js';

/** Answers that belong to nobody in particular are refused to tokens of some namespaces. */
function isNotForUs(failure) {
  return failure instanceof Refusal && failure.status === 403;
}

export class Model {
  overview = null;
  flows = null;
  /** Why one of both is not there. */
  refused = null;
  rates = new Rates();
  edgeRates = new Rates();
  series = Object.fromEntries(
    ['commits', 'rows', 'messages', 'lag', 'cpu', 'memory'].map((name) => [name, new Series()]));

  async loadOverview() {
    try {
      this.overview = await get('/api/v1/overview');
      this.refused = null;
    } catch (failure) {
      if (!isNotForUs(failure)) throw failure;
      this.overview = null;
      this.refused = failure;
      return;
    }
    this.#addOverview(this.overview);
  }

  async loadFlows() {
    this.flows = await get('/api/v1/flows');
    const seconds = performance.now() / 1000;
    const totals = [];
    for (const node of this.flows.nodes) {
      totals.push([`in ${node.name}`, node.rows_in], [`out ${node.name}`, node.rows_out]);
    }
    for (const edge of this.flows.edges) totals.push([`${edge.from} ${edge.to}`, edge.rows]);
    this.edgeRates.take(seconds, totals);
  }

  #addOverview(overview) {
    this.rates.take(overview.uptime_seconds, [
      ['commits', overview.commits], ['rows', overview.rows_changed],
      ['messages', overview.messages_handled], ['cpu', overview.cpu_seconds],
      ['dead_letters', overview.dead_letters], ['claims', overview.executions?.claims ?? 0],
    ]);
    for (const name of ['commits', 'rows', 'messages', 'cpu']) this.series[name].add(this.rates.of(name));
    this.series.lag.add(overview.lag_seconds);
    this.series.memory.add(number(overview.resident_bytes));
  }

  rowsIn(node) {
    return this.edgeRates.of(`in ${node.name}`);
  }
  rowsOut(node) {
    return this.edgeRates.of(`out ${node.name}`);
  }
  rowsAlong(edge) {
    return this.edgeRates.of(`${edge.from} ${edge.to}`);
  }
  get views() {
    return this.flows?.nodes.filter((node) => node.kind === 'view') ?? [];
  }
}
