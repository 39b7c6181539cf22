// A graph as a drawing. The drawing is hidden from those who cannot see it: a table says the same.

import {h, s, setAttribute, setText} from './dom.js';
import {depth, layOut} from './layout.js';

const margin = 10;
const size = {height: 60, gap: 16};

/** Layers stand as far from each other as there is room; where there is little, the drawing is scrolled. */
function sizeFor(room, layers) {
  const width = room < 560 ? 132 : 160;
  const span = (room - 2 * margin - layers * width) / Math.max(layers - 1, 1);
  return {...size, width, span: Math.round(Math.min(Math.max(span, room < 560 ? 62 : 76), 150))};
}

/** A curve through points that leaves and arrives level. */
function curve(points) {
  let path = `M${points[0].x} ${points[0].y}`;
  for (let index = 1; index < points.length; ++index) {
    const [a, b] = [points[index - 1], points[index]];
    const bend = (b.x - a.x) / 2;
    path += `C${a.x + bend} ${a.y} ${b.x - bend} ${b.y} ${b.x} ${b.y}`;
  }
  return path;
}

/** Cut to what fits into a node, about. */
function fitted(text, width, letter) {
  const most = Math.floor(width / letter);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

export class Graph {
  #size = null;
  #shape = '';
  #drawing = s('svg', {'aria-hidden': 'true', focusable: 'false', width: 0, height: 0});
  #nodes = new Map();
  #edges = [];

  /** `label` names the place where it can be scrolled. */
  constructor(label) {
    this.element = h('div', {class: 'graph', tabindex: '0', role: 'group', 'aria-label': label}, this.#drawing);
  }

  /**
   * Nodes have `name`, `title`, `lines` (two texts), `tone`, and maybe `href`; edges have `from`, `to`,
   * `label`, `weight` from 0 to 1 and `moves`. Only another shape is laid out anew.
   */
  show(nodes, edges) {
    const names = nodes.map((node) => node.name);
    const room = this.element.clientWidth;
    // A drawing that nobody sees has no room: it is drawn when somebody does.
    if (room === 0) return;
    const shape = JSON.stringify([room, nodes.map((node) => [node.name, node.href]), edges.map((edge) => [edge.from, edge.to])]);
    if (shape !== this.#shape) {
      this.#size = sizeFor(room, depth(names, edges));
      this.#lay(nodes, edges);
    }
    this.#shape = shape;
    for (const node of nodes) this.#updateNode(this.#nodes.get(node.name), node);
    edges.forEach((edge, index) => this.#updateEdge(this.#edges[index], edge));
  }

  #lay(nodes, edges) {
    const laid = layOut(nodes.map((node) => node.name), edges, this.#size);
    const [width, height] = [laid.width + 2 * margin, laid.height + 2 * margin];
    setAttribute(this.#drawing, 'viewBox', `${-margin} ${-margin} ${width} ${height}`);
    setAttribute(this.#drawing, 'width', width);
    setAttribute(this.#drawing, 'height', height);
    this.#edges = laid.ways.map((way, index) => this.#makeEdge(way, edges[index], edges));
    this.#nodes = new Map(nodes.map((node) => [node.name, this.#makeNode(node, laid.places.get(node.name))]));
    this.#drawing.replaceChildren(...this.#edges.map((edge) => edge.path), ...this.#edges.map((edge) => edge.text),
      ...[...this.#nodes.values()].map((node) => node.element));
  }

  #makeEdge(way, edge, edges) {
    // Where several come together the labels are apart at their begins, and the other way round.
    const joins = edges.filter((other) => other.to === edge.to).length;
    const parts = edges.filter((other) => other.from === edge.from).length;
    const [a, b] = parts >= joins ? way.slice(-2) : way.slice(0, 2);
    const along = parts >= joins ? 0.66 : 0.34;
    // On the curve between the two points, not on the line.
    const rise = along * along * (3 - 2 * along);
    return {
      path: s('path', {d: curve(way), class: 'edge'}),
      text: s('text', {class: 'edge-label', x: a.x + (b.x - a.x) * along, y: a.y + (b.y - a.y) * rise + 4}),
    };
  }

  #makeNode(node, place) {
    const {width, height} = this.#size;
    const [title, first, second] = [0, 1, 2].map((line) => s('text', {x: 14, y: 20 + line * 16, class: `line-${line}`}));
    const group = s('g', {class: 'node', transform: `translate(${place.x} ${place.y})`},
      s('rect', {width, height, rx: 7}), s('rect', {class: 'mark', width: 4, height: height - 16, x: 0, y: 8, rx: 2}),
      title, first, second);
    const element = node.href ? s('a', {href: node.href, tabindex: '-1'}, group) : group;
    return {element, group, title, lines: [first, second]};
  }

  #updateNode(drawn, node) {
    setAttribute(drawn.group, 'data-tone', node.tone);
    setText(drawn.title, fitted(node.title, this.#size.width - 20, 8));
    drawn.lines.forEach((line, index) => setText(line, fitted(node.lines[index] ?? '', this.#size.width - 20, 6.3)));
  }

  #updateEdge(drawn, edge) {
    setText(drawn.text, edge.label ?? '');
    setAttribute(drawn.path, 'data-moves', edge.moves ? 'yes' : null);
    setAttribute(drawn.path, 'data-tone', edge.tone);
    setAttribute(drawn.path, 'stroke-width', (1.25 + 1.5 * (edge.weight ?? 0)).toFixed(2));
  }
}
