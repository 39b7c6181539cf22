// Where the nodes of a graph without cycles are drawn: in layers, each edge from one to a later one.
//
//     layers ──> places for edges that pass a layer ──> order within layers ──> positions

const sweeps = 8;
const settlings = 24;

/** By the longest way to a node, so that every edge goes forward. */
function layersOf(names, edges) {
  const layer = new Map(names.map((name) => [name, 0]));
  // As many rounds as the longest way has edges; a cycle, which is not drawn right, ends them too.
  for (let round = 0, moved = true; moved && round < names.length; ++round) {
    moved = false;
    for (const {from, to} of edges) {
      if (layer.get(to) > layer.get(from)) continue;
      layer.set(to, layer.get(from) + 1);
      moved = true;
    }
  }
  return layer;
}

/** Items of layers with their neighbours; long edges get an item in each layer that they pass. */
function itemsOf(names, edges) {
  const layer = layersOf(names, edges);
  const layers = [];
  const put = (item, at) => {
    (layers[at] ??= []).push(item);
    return item;
  };
  const byName = new Map(names.map((name) => [name, put({name, before: [], after: []}, layer.get(name))]));
  const ways = edges.map(({from, to}) => {
    const way = [byName.get(from)];
    for (let at = layer.get(from) + 1; at < layer.get(to); ++at) {
      way.push(put({name: null, before: [], after: []}, at));
    }
    way.push(byName.get(to));
    for (let index = 1; index < way.length; ++index) {
      way[index - 1].after.push(way[index]);
      way[index].before.push(way[index - 1]);
    }
    return way;
  });
  return {layers: layers.map((items) => items ?? []), byName, ways};
}

const average = (items, value) => items.reduce((sum, item) => sum + value(item), 0) / items.length;

/** Neighbours close to each other: fewer edges cross. */
function order(layers) {
  const number = (items) => items.forEach((item, index) => { item.rank = index; });
  layers.forEach(number);
  for (let sweep = 0; sweep < sweeps; ++sweep) {
    const forward = sweep % 2 === 0;
    for (const items of forward ? layers : layers.toReversed()) {
      for (const item of items) {
        const near = forward ? item.before : item.after;
        item.wish = near.length > 0 ? average(near, (other) => other.rank) : item.rank;
      }
      items.sort((a, b) => a.wish - b.wish || a.rank - b.rank);
      number(items);
    }
  }
}

const room = (item, size) => (item.name === null ? size.gap : size.height + size.gap);

/** How many layers a graph has. */
export function depth(names, edges) {
  return Math.max(0, ...layersOf(names, edges).values()) + 1;
}

/** Along a layer: as near to their neighbours as those beside them allow. */
function settle(layers, size) {
  for (const items of layers) {
    let at = 0;
    for (const item of items) {
      item.y = at + room(item, size) / 2;
      at += room(item, size);
    }
    for (const item of items) item.y -= at / 2;
  }
  for (let round = 0; round < settlings; ++round) {
    for (const items of round % 2 === 0 ? layers : layers.toReversed()) {
      for (const item of items) {
        const near = [...item.before, ...item.after];
        if (near.length > 0) item.y += (average(near, (other) => other.y) - item.y) / 2;
      }
      keepApart(items, size);
    }
  }
}

/** Between pushing neighbours down and pushing them up: what overlaps gives way to both sides alike. */
function keepApart(items, size) {
  const apart = (index) => (room(items[index], size) + room(items[index - 1], size)) / 2;
  const down = items.map((item) => item.y);
  const up = [...down];
  for (let index = 1; index < items.length; ++index) down[index] = Math.max(down[index], down[index - 1] + apart(index));
  for (let index = items.length - 1; index > 0; --index) up[index - 1] = Math.min(up[index - 1], up[index] - apart(index));
  items.forEach((item, index) => { item.y = (down[index] + up[index]) / 2; });
}

/** Nodes without edges: beneath the others, as many in a row as there are layers. */
function putAside(names, places, {width, height}, size) {
  const columns = Math.max(Math.round((width + size.span) / (size.width + size.span)), 1);
  const top = height > 0 ? height + 2 * size.gap : 0;
  names.forEach((name, index) => places.set(name, {
    x: (index % columns) * (size.width + size.span),
    y: top + Math.floor(index / columns) * (size.height + size.gap),
  }));
  const rows = Math.ceil(names.length / columns);
  const across = Math.min(names.length, columns) * (size.width + size.span) - size.span;
  return {width: Math.max(width, across), height: rows > 0 ? top + rows * (size.height + size.gap) - size.gap : height};
}

/**
 * Of nodes by their names and edges `{from, to}`: the corner of each node, the points of each edge from
 * right side to left side, and how large it all is. `size` has `width`, `height`, `gap` between nodes
 * of a layer and `span` between layers.
 */
export function layOut(names, edges, size) {
  const connected = new Set(edges.flatMap((edge) => [edge.from, edge.to]));
  const {layers, byName, ways} = itemsOf(names.filter((name) => connected.has(name)), edges);
  order(layers);
  settle(layers, size);
  const all = layers.flat();
  const top = Math.min(...all.map((item) => item.y)) - size.height / 2;
  layers.forEach((items, index) => {
    for (const item of items) item.x = index * (size.width + size.span);
  });
  const right = (item) => ({x: item.x + (item.name === null ? size.width / 2 : size.width), y: item.y - top});
  const left = (item) => ({x: item.x + (item.name === null ? size.width / 2 : 0), y: item.y - top});
  const places = new Map([...byName].map(([name, item]) => [name, {x: item.x, y: item.y - top - size.height / 2}]));
  const drawn = all.length === 0 ? {width: 0, height: 0} : {
    width: layers.length * (size.width + size.span) - size.span,
    height: Math.max(...all.map((item) => item.y)) - top + size.height / 2,
  };
  const aside = names.filter((name) => !connected.has(name));
  return {places, ways: ways.map((way) => [right(way[0]), ...way.slice(1).map(left)]), ...putAside(aside, places, drawn, size)};
}
