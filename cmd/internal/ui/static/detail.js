// The dialog with one object: its dead letters, or how a stream table is refreshed.

import { age, el, megabytes, setText, table, time } from './dom.js';

const dialog = document.getElementById('detail');
const title = document.getElementById('detail-title');
const message = document.getElementById('detail-message');
const body = document.getElementById('detail-body');
const actions = document.body.dataset.actions === 'true';

const kinds = { inbox: 'Inbox', group: 'Consumer group', outbox: 'Outbox', stream_table: 'Stream table' };
let latest = null; // status
let current = null; // {kind, name, figures, pause, dead}

dialog.addEventListener('close', () => {
  current = null;
  if (location.hash !== '') history.pushState(null, '', location.pathname);
});
document.getElementById('close').addEventListener('click', () => dialog.close());

// opened shows what the address names.
export function opened() {
  const [kind, name] = named();
  if (!kind) {
    if (dialog.open) dialog.close();
    return;
  }
  if (current && current.kind === kind && current.name === name) return;
  current = { kind, name };
  setText(title, `${kinds[kind]} ${name}`);
  say('');
  body.replaceChildren();
  if (!dialog.open) dialog.showModal();
  title.focus();
  build();
}

function named() {
  const [, kind, name] = /^#([a-z_]+)\/(.+)$/.exec(location.hash) ?? [];
  if (!kinds[kind]) return [];
  try {
    return [kind, decodeURIComponent(name)];
  } catch {
    return [];
  }
}

function say(text, kind = '') {
  message.className = kind;
  setText(message, text);
}

async function ask(path, options = {}) {
  const response = await fetch(path, { cache: 'no-store', ...options });
  if (response.status === 401) location.assign('/login');
  const result = await response.json();
  if (!response.ok) {
    const text = result.kind === 'forbidden' ? `this role may not read it: ${result.error}` : result.error;
    throw new Error(result.hint && result.kind !== 'forbidden' ? `${text}: ${result.hint}` : text);
  }
  return result;
}

const act = (path, target) => ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Sluice-Action': '1' }, body: JSON.stringify(target) });

// renew brings the figures of the dialog up to date.
export function renew(status) {
  latest = status;
  if (!current || !current.figures) return;
  const object = find();
  if (!object) {
    say(`there is no ${kinds[current.kind].toLowerCase()} ${current.name}`, 'bad');
    return;
  }
  const figures = figuresOf[current.kind](object);
  if (current.figures.children.length !== 2 * figures.length) {
    current.figures.replaceChildren(...figures.flatMap(([name]) => [el('dt', {}, name), el('dd', { class: 'number' })]));
  }
  figures.forEach(([, text], n) => setText(current.figures.children[2 * n + 1], String(text ?? '–')));
  if (current.pause) {
    current.pause.hidden = false;
    setText(current.pause, object.paused ? 'Resume' : 'Pause');
  }
  if (current.dead !== undefined && current.dead !== object.dead_letters) {
    current.dead = object.dead_letters;
    list(current);
  }
}

function find() {
  const lists = { inbox: 'inboxes', group: 'consumer_groups', outbox: 'outboxes', stream_table: 'stream_tables' };
  return latest && latest[lists[current.kind]].find((o) => o.name === current.name);
}

const figuresOf = {
  inbox: (i) => [['State', i.paused ? 'paused' : i.health], ['Pending', i.pending], ['Oldest pending', age(i.oldest_pending_age_seconds)], ['Processed', i.processed], ['Dead letters', i.dead_letters], ['Size', megabytes(i.total_bytes)],
    ...(i.quarantined === undefined ? [] : [['In quarantine', i.quarantined]])],
  group: (g) => [['State', g.paused ? 'paused' : 'running'], ['Outbox', g.outbox], ['Rows behind', g.lag_rows], ['Leased', g.leased_rows], ['Consumers', `${g.healthy_consumers} of ${g.consumers} alive`], ['Dead letters', g.dead_letters]],
  outbox: (o) => [['Rows', o.rows], ['Oldest', age(o.oldest_age_seconds)], ['Size', megabytes(o.total_bytes)], ['Storage', o.storage_status]],
  stream_table: (t) => [['State', t.status], ['Age', age(t.staleness_seconds)], ['Rows waiting', t.waiting], ['Mode', t.effective_mode], ['Why', t.effective_reason], ['Strategy', t.strategy], ['Schedule', t.schedule], ['Errors in a row', t.consecutive_errors], ['Last error', t.last_error]],
};

function build() {
  const here = current;
  here.figures = el('dl');
  body.append(here.figures);
  if (here.kind === 'inbox' || here.kind === 'group') {
    if (actions) {
      here.pause = el('button', { type: 'button', hidden: true, onclick: () => toggle(here) });
      body.append(el('div', { class: 'buttons' }, here.pause));
    }
    here.list = el('div');
    here.one = el('div', { id: 'letter', 'aria-live': 'polite' });
    here.dead = null; // not listed yet
    body.append(el('h3', {}, 'Dead letters'), here.list, here.one);
  }
  if (here.kind === 'stream_table') streamTable();
  if (latest) renew(latest);
}

async function toggle(here) {
  const paused = here.pause.textContent === 'Resume';
  try {
    await act(paused ? '/api/resume' : '/api/pause', { [here.kind]: here.name });
    say(paused ? 'resumed' : 'paused', 'good');
  } catch (error) {
    say(error.message, 'bad');
  }
}

const query = (here, more = {}) => new URLSearchParams({ [here.kind]: here.name, ...more });

// list shows the dead letters without their payloads.
async function list(here) {
  try {
    const found = await ask(`/api/dead-letters?${query(here)}`);
    if (here !== current) return;
    const letters = found.dead_letters ?? [];
    if (letters.length === 0) {
      here.list.replaceChildren(el('p', { class: 'faint' }, 'none'));
      return;
    }
    const t = table(['Id', 'Type', 'Dead since', 'Attempts', 'Error']);
    t.update(letters.map((l) => ({ key: l.id, cells: [null, l.event_type ?? '', time(l.dead_at), String(l.attempts), l.error ?? ''] })));
    [...t.node.tBodies[0].rows].forEach((row, n) => row.cells[0].append(el('button', { type: 'button', class: 'link', onclick: () => open(here, letters[n].id) }, letters[n].id)));
    const parts = [t.node];
    if (letters.length === found.most) parts.unshift(el('p', { class: 'faint' }, `the latest ${found.most}`));
    if (actions) parts.unshift(el('div', { class: 'buttons' }, el('button', { type: 'button', onclick: () => replay(here, letters.map((l) => l.id)) }, `Replay these ${letters.length}`), ...discards(here, letters.map((l) => l.id))));
    here.list.replaceChildren(...parts);
  } catch (error) {
    if (here === current) here.list.replaceChildren(el('p', { class: 'bad' }, error.message));
  }
}

// open shows one dead letter.
async function open(here, id) {
  try {
    const l = await ask(`/api/dead-letters?${query(here, { id })}`);
    if (here !== current) return;
    const lines = [['Id', l.id], ['Type', l.event_type], ['Arrived', time(l.arrived_at)], ['Dead since', time(l.dead_at)], ['Attempts', String(l.attempts)], ['Consumer', l.consumer], ['Error', l.error]];
    const c = l.content;
    if (c) lines.push(['Aggregate', c.aggregate_id], ['Source', c.source], ['Trace', c.trace_id]);
    const heading = el('h3', { tabindex: '-1' }, `Dead letter ${l.id}`);
    const parts = [heading, el('dl', {}, ...lines.filter(([, v]) => v !== null && v !== undefined).flatMap(([k, v]) => [el('dt', {}, k), el('dd', {}, v)]))];
    if (!c) parts.push(el('p', { class: 'weak' }, 'this role may not read the payload'));
    else {
      if (c.headers) parts.push(el('h3', {}, 'Headers'), el('pre', { tabindex: '0' }, c.headers));
      parts.push(el('h3', {}, 'Payload'), el('pre', { tabindex: '0', id: 'payload' }, c.payload ?? ''));
      if (c.cut) parts.push(el('p', { class: 'faint' }, 'it is longer than what is shown'));
    }
    if (actions) parts.push(el('div', { class: 'buttons' }, el('button', { type: 'button', id: 'replay', onclick: () => replay(here, [l.id]) }, 'Replay'), ...discards(here, [l.id])));
    here.one.replaceChildren(...parts);
    heading.focus();
  } catch (error) {
    say(error.message, 'bad');
  }
}

const replay = (here, ids) => settle(here, '/api/replay', ids, ({ replayed }) => [replayed, 'replayed']);

// discards is the button that deletes dead letters of a group. It asks before.
function discards(here, ids) {
  if (here.kind !== 'group') return [];
  const question = ids.length === 1 ? `Delete dead letter ${ids[0]}?` : `Delete these ${ids.length} dead letters?`;
  const discard = () => confirm(question) && settle(here, '/api/discard', ids, ({ discarded }) => [discarded, 'discarded']);
  return [el('button', { type: 'button', class: 'discard', onclick: discard }, ids.length === 1 ? 'Discard' : `Discard these ${ids.length}`)];
}

async function settle(here, path, ids, outcome) {
  try {
    const [count, done] = outcome(await act(path, { [here.kind]: here.name, ids }));
    if (here !== current) return;
    say(`${count} ${done}`, count > 0 ? 'good' : 'weak');
    here.one.replaceChildren();
    title.focus();
    list(here);
  } catch (error) {
    say(error.message, 'bad');
  }
}

async function streamTable() {
  const here = current;
  const explained = el('pre', { id: 'explain', tabindex: '0' });
  const refreshes = el('div', { class: 'scroll' });
  body.append(el('h3', {}, 'How it is refreshed'), explained, el('h3', {}, 'Refreshes'), refreshes);
  const name = new URLSearchParams({ name: here.name });
  try {
    setText(explained, (await ask(`/api/explain?${name}`)).lines.join('\n'));
  } catch (error) {
    setText(explained, error.message);
  }
  try {
    const found = (await ask(`/api/history?${name}`)).refreshes ?? [];
    const t = table(['Started', 'Took', 'Mode', 'Inserted', 'Deleted', 'Reason', 'Error']);
    t.update(found.map((r, n) => ({
      key: n, cells: [time(r.started_at), age((Date.parse(r.finished_at) - Date.parse(r.started_at)) / 1000), r.mode, r.inserted.toLocaleString(), r.deleted.toLocaleString(), r.reason ?? '', { text: r.error ?? '', kind: 'bad' }],
    })));
    refreshes.replaceChildren(found.length > 0 ? t.node : el('p', { class: 'faint' }, 'none that changed something'));
  } catch (error) {
    refreshes.replaceChildren(el('p', { class: 'bad' }, error.message));
  }
}
