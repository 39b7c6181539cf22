// Figures over time: rates from totals, and the small drawings of them.

import {s, setAttribute} from './dom.js';
import {number} from './format.js';

/** How many figures are kept: about two minutes. */
export const kept = 120;
/** A rate is that of the last few seconds, so that it can be read. */
const window = 4;

/** The last figures of something. */
export class Series {
  values = [];

  add(value) {
    this.values.push(value);
    if (this.values.length > kept) this.values.shift();
  }
  get last() {
    return this.values.at(-1) ?? null;
  }
  get highest() {
    return this.values.reduce((most, value) => Math.max(most, value ?? 0), 0);
  }
}

/** Totals that only grow, by name: what they grow by in a second. */
export class Rates {
  #totals = new Map();

  /** Takes the totals of one moment, in seconds; those that are not there any more are forgotten. */
  take(seconds, totals) {
    const next = new Map();
    for (const [name, given] of totals) {
      const total = number(given);
      let points = this.#totals.get(name) ?? [];
      // A server that began anew counts from zero.
      if (points.length > 0 && total < points.at(-1).total) points = [];
      next.set(name, [...points, {seconds, total}].slice(-window - 1));
    }
    this.#totals = next;
  }

  /** Null until there are two totals. */
  of(name) {
    const points = this.#totals.get(name);
    if (!points || points.length < 2) return null;
    const [first, last] = [points[0], points.at(-1)];
    return last.seconds > first.seconds ? (last.total - first.total) / (last.seconds - first.seconds) : null;
  }

  clear() {
    this.#totals.clear();
  }
}

const width = 240;
const height = 44;

/** An empty drawing, to be given a series by `drawSparkline`. */
export function sparkline() {
  return s('svg', {class: 'sparkline', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none',
    'aria-hidden': 'true'},
  s('path', {class: 'area'}), s('path', {class: 'line'}));
}

/** From the left as time goes on; the highest figure reaches the top, zero is at the bottom. */
export function drawSparkline(drawing, series) {
  const top = Math.max(series.highest, 1e-9) * 1.08;
  // It begins wide, so that there is something to see soon.
  const steps = Math.max(series.values.length, 30) - 1;
  const first = steps + 1 - series.values.length;
  let line = '';
  let start = null;
  let end = null;
  series.values.forEach((value, index) => {
    if (value === null) return;
    const x = ((first + index) / steps) * width;
    const y = height - 1 - (value / top) * (height - 4);
    line += `${start === null ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`;
    start ??= x;
    end = x;
  });
  const [area, stroke] = drawing.children;
  setAttribute(stroke, 'd', line || null);
  setAttribute(area, 'd', line ? `${line}L${end.toFixed(1)} ${height}L${start.toFixed(1)} ${height}Z` : null);
}
