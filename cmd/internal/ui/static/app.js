// Asks for the status again and again, and shows it.

import { el, picture, setText, table, time } from './dom.js';
import { show } from './tables.js';
import { opened, renew } from './detail.js';

const every = 1000; // milliseconds between two looks, and more where nobody looks
const hidden = 5000;

const at = (id) => document.getElementById(id);
let versionSeen = '';
let timer = 0;

async function look() {
  try {
    const response = await fetch('/api/status', { headers: { Accept: 'application/json' }, cache: 'no-store' });
    if (response.status === 401) { location.assign('/login'); return; }
    const status = await response.json();
    if (!response.ok) throw new Error(status.hint ? `${status.error}: ${status.hint}` : status.error);
    take(status);
    state(`read at ${new Date(status.read_at).toLocaleTimeString()}`, 'faint');
  } catch (error) {
    const why = error instanceof TypeError ? 'the server does not answer' : error.message;
    state(`cannot be read: ${why}`, 'bad');
  }
}

// state says how old the page is. Screen readers need not hear of each look.
function state(text, kind) {
  const node = at('state');
  node.setAttribute('aria-live', kind === 'bad' ? 'polite' : 'off');
  node.className = kind;
  setText(node, text);
}

function take(status) {
  const e = status.extension;
  setText(at('title'), `${e.name} ${e.version}`);
  setText(at('about'), `schema ${e.schema}, ${e.flavour} flavour`);
  if (document.title !== `${e.name} – Sluice`) document.title = `${e.name} – Sluice`;
  problems(status.problems);
  at('flow-section').hidden = status.flow === '';
  if (status.flow !== '') picture(at('flow'), status.flow);
  show(at('tables'), status, Date.parse(status.read_at));
  renew(status);
  const version = `${e.version} ${e.installed_at}`;
  if (version !== versionSeen) {
    versionSeen = version;
    versions();
  }
}

let problemsSeen = '';

function problems(list) {
  const seen = JSON.stringify(list);
  if (seen === problemsSeen) return;
  problemsSeen = seen;
  const items = list.map((p) => el('li', {}, p.message, el('span', { class: 'hint' }, p.hint)));
  at('problem-list').replaceChildren(...(items.length > 0 ? items : [el('li', { class: 'none' }, 'none')]));
}

// versions shows what was installed.
async function versions() {
  const response = await fetch('/api/history', { cache: 'no-store' });
  const history = await response.json();
  if (!response.ok) {
    at('versions').replaceChildren(el('p', { class: 'faint' }, `cannot be read: ${history.error}`));
    return;
  }
  const t = table(['Version', 'Installed', 'Way', 'Flavour', 'Role', 'Change']);
  t.update(history.versions.map((v) => ({ key: String(v.no), cells: [v.version, time(v.installed_at), v.way, v.flavour, v.role, change(v)] })).reverse());
  at('versions').replaceChildren(t.node);
}

function change(v) {
  if (v.from === null) return 'installed';
  if (v.from === v.version) return 'changed under its number';
  return `${v.downgrade ? 'downgraded' : 'upgraded'} from ${v.from}`;
}

async function loop() {
  clearTimeout(timer);
  await look();
  clearTimeout(timer);
  timer = setTimeout(loop, document.hidden ? hidden : every);
}

document.addEventListener('visibilitychange', () => { if (!document.hidden) loop(); });
window.addEventListener('hashchange', opened);
loop().then(opened);
