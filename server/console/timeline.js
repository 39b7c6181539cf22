// When things were done: bars in the rows of a table.

import {s, setAttribute} from './dom.js';

export const seconds = (time) => (time ? Date.parse(time) / 1000 : null);

/** Time from left to right, in each row the part of one. */
export function bar() {
  return s('svg', {class: 'bar', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true'},
    s('rect', {class: 'waited', y: 4, height: 2}), s('rect', {class: 'ran', y: 1, height: 8}));
}

export function showBar(drawing, {created, started, ended, tone}, {first, last}) {
  const at = (time) => (100 * (time - first)) / Math.max(last - first, 0.001);
  const [waited, ran] = drawing.children;
  const begin = started ?? ended ?? last;
  const place = (element, from, to) => {
    setAttribute(element, 'x', at(from).toFixed(2));
    setAttribute(element, 'width', Math.max(at(to) - at(from), 0).toFixed(2));
  };
  place(waited, created ?? begin, begin);
  place(ran, begin, begin);
  if (started !== null) setAttribute(ran, 'width', Math.max(at(ended ?? last) - at(started), 0.8).toFixed(2));
  setAttribute(drawing, 'data-tone', tone);
}
