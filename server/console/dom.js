// Making and updating elements. Text only ever becomes text: nothing here parses markup, so whatever a
// server sends cannot be more than what is shown.

const svgSpace = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** `h('p', {class: 'hint'}, 'text', other)` */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(svgSpace, tag), attributes, children);
}

/** Changes what differs only, so that a selection in the page stays. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== String(value)) {
    element.setAttribute(name, value);
  }
}

/**
 * Makes the children of an element follow a list: each item keeps its element as long as its key is
 * there, so that focus and selection survive.
 */
export function follow(parent, items, key, make, update) {
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    let child = known.get(name);
    known.delete(name);
    if (!child) {
      child = make(item);
      child.dataset.key = name;
    }
    update?.(child, item);
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
  }
  for (const child of known.values()) child.remove();
}

/** A state as a coloured dot with its name beside it. */
export function badge(state) {
  const element = h('span', {class: 'badge'});
  setBadge(element, state);
  return element;
}

export function setBadge(element, state) {
  setText(element, String(state ?? '').replaceAll('_', ' '));
  setAttribute(element, 'data-tone', toneOf(state));
}

const tones = {
  ok: ['live', 'completed', 'succeeded', 'satisfied', 'open'],
  busy: ['active', 'running', 'backfilling', 'catching_up', 'ready', 'pending'],
  wait: ['waiting', 'waiting_children', 'rate_limited', 'delayed', 'suspended', 'blocked', 'failing', 'paused', 'skipped', 'draining'],
  bad: ['quarantined', 'failed', 'cancelled', 'expired', 'impossible', 'stopping'],
};

export function toneOf(state) {
  for (const [tone, states] of Object.entries(tones)) if (states.includes(state)) return tone;
  return 'plain';
}

/** Beneath a heading: what a section says when there is nothing to list. */
export function empty(text) {
  return h('p', {class: 'empty'}, text);
}

/** A part of a page with a heading that names it. */
export function panel(title, attributes = {}, ...children) {
  const id = `panel-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
  return h('section', {...attributes, class: `panel ${attributes.class ?? ''}`, 'aria-labelledby': id},
    h('h3', {id}, title), ...children);
}
