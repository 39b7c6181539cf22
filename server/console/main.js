// The console: which section is shown, and asking the server for it again and again.

import {Refusal, setToken, token} from './api.js';
import {Actors} from './actors.js';
import {h, setAttribute, setText} from './dom.js';
import {Flows} from './flows.js';
import {count, duration} from './format.js';
import {Letters} from './letters.js';
import {Log} from './log.js';
import {Model} from './model.js';
import {Overview} from './overview.js';
import {Views} from './views.js';
import {Workflows} from './workflows.js';

const period = 1000;
const longestPause = 8000;
const byId = (id) => document.getElementById(id);

// Telling and asking.

let saying = 0;
function say(text, tone = 'ok') {
  const element = byId('said');
  setText(element, text);
  setAttribute(element, 'data-tone', tone);
  clearTimeout(saying);
  saying = setTimeout(() => setText(element, ''), 8000);
}

/** Whether somebody says yes. Focus returns to where it was. */
function confirm(title, text, yes) {
  const dialog = byId('confirm');
  setText(byId('confirm-title'), title);
  setText(byId('confirm-text'), text);
  setText(byId('confirm-yes'), yes);
  dialog.returnValue = 'no';
  dialog.showModal();
  return new Promise((done) => {
    dialog.addEventListener('close', () => done(dialog.returnValue === 'yes'), {once: true});
  });
}

/** Asks for a token until there is one. */
function askForToken(why) {
  const dialog = byId('sign-in');
  setText(byId('sign-in-text'), why);
  byId('token').value = '';
  if (!dialog.open) dialog.showModal();
  return new Promise((done) => {
    dialog.addEventListener('close', () => {
      setToken(byId('token').value.trim());
      byId('token').value = '';
      done();
    }, {once: true});
  });
}

// The theme: what the system says, unless somebody has chosen.

const themes = ['auto', 'light', 'dark'];
function showTheme() {
  const theme = localStorage.getItem('weir.theme') ?? 'auto';
  setAttribute(document.documentElement, 'data-theme', theme === 'auto' ? null : theme);
  setText(byId('theme'), {auto: '◐ Auto', light: '○ Light', dark: '● Dark'}[theme]);
  setAttribute(byId('theme'), 'aria-label', `Theme: ${theme}`);
}
byId('theme').addEventListener('click', () => {
  const theme = localStorage.getItem('weir.theme') ?? 'auto';
  localStorage.setItem('weir.theme', themes[(themes.indexOf(theme) + 1) % themes.length]);
  showTheme();
});
showTheme();

// Sections.

const context = {confirm, say, again: () => wake()};
const sections = new Map(Object.entries({
  overview: new Overview(), flows: new Flows(), views: new Views(context), workflows: new Workflows(context),
  actors: new Actors(), letters: new Letters(), log: new Log(),
}));
const headings = new Map();
for (const [name, section] of sections) {
  const heading = h('h2', {id: `heading-${name}`, tabindex: '-1'}, section.title);
  const refused = h('p', {class: 'refused', hidden: true});
  headings.set(name, {heading, refused});
  byId('content').append(h('section', {id: `section-${name}`, 'aria-labelledby': `heading-${name}`, hidden: true},
    heading, refused, section.element));
  byId('sections').append(h('li', {}, h('a', {href: `#/${name}`, id: `to-${name}`}, section.title)));
}

/** `#/views/orders` is the section `views` with the part `orders`. */
function place() {
  const [name, ...parts] = location.hash.replace(/^#\//, '').split('/').map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return sections.has(name) ? {name, parts} : {name: 'overview', parts: []};
}

function showPlace() {
  const {name} = place();
  for (const [other, section] of sections) {
    byId(`section-${other}`).hidden = other !== name;
    setAttribute(byId(`to-${other}`), 'aria-current', other === name ? 'page' : null);
    if (other === name) document.title = `${section.title} – ${byId('name').textContent}`;
  }
}

window.addEventListener('hashchange', () => {
  if (location.hash === '#content') return;
  showPlace();
  headings.get(place().name).heading.focus({preventScroll: true});
  window.scrollTo(0, 0);
  show();
  wake();
});
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('content').focus();
});

// Asking.

const model = new Model();

function show() {
  const {name, parts} = place();
  sections.get(name).show(model, parts);
}

function showConnection(state, text) {
  const element = byId('connection');
  setAttribute(element, 'data-state', state);
  setText(element, text);
}

function showServer() {
  const overview = model.overview;
  byId('forget').hidden = !token();
  if (!overview) return;
  setText(byId('name'), overview.name);
  setText(byId('facts'), `up ${duration(overview.uptime_seconds)}, version ${count(overview.version)}`);
}

/** What the section on the screen shows; a refusal of that alone is told there. */
async function loadSection({name, parts}) {
  const section = sections.get(name);
  const {refused} = headings.get(name);
  try {
    if (section.needsFlows) await model.loadFlows();
    await section.load?.(parts, model);
    refused.hidden = !(model.refused && name === 'overview');
    if (!refused.hidden) setText(refused, `The overview is not for this token: ${model.refused.message}.`);
  } catch (failure) {
    if (!(failure instanceof Refusal) || failure.status === 0 || failure.status === 401) throw failure;
    refused.hidden = false;
    setText(refused, `The server refused: ${failure.message}.`);
  }
}

async function ask() {
  const here = place();
  await model.loadOverview();
  await loadSection(here);
  showServer();
  show();
}

let failures = 0;
let timer = 0;
let isAsking = false;
let isDue = false;

/** At once, or as soon as the request that is under way has been answered. */
function wake() {
  isDue = true;
  if (!isAsking) turn();
}

async function turn() {
  clearTimeout(timer);
  isDue = false;
  isAsking = true;
  try {
    await ask();
    failures = 0;
    showConnection('live', 'live');
  } catch (failure) {
    await onFailure(failure);
  }
  isAsking = false;
  if (isDue) turn();
  else if (!document.hidden) timer = setTimeout(turn, Math.min(period * 2 ** failures, longestPause));
}

async function onFailure(failure) {
  if (!(failure instanceof Refusal)) {
    console.error(failure);
    showConnection('lost', 'something is wrong with this page');
    failures = 3;
  } else if (failure.status === 401) {
    showConnection('locked', 'needs a token');
    await askForToken(failure.code === 'no_token' ? 'Ask whoever runs it for one.' : 'The token was not accepted: try another one.');
    isDue = true;
  } else {
    ++failures;
    showConnection('lost', 'connection lost, trying again');
  }
}

byId('forget').addEventListener('click', () => {
  setToken(null);
  wake();
});
// A drawing has as much room as its window gives it.
window.addEventListener('resize', () => show());
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) wake();
});

showPlace();
wake();
