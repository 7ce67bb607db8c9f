// The tables of the page: one for each kind of object, with the course of a figure over the last minute.

import { age, el, link, megabytes, table } from './dom.js';

const kept = 60; // looks
const series = new Map();
let looks = [];

// note keeps the figures of a look.
function note(status, at) {
  looks = [...looks, at].slice(-kept);
  const now = new Map();
  for (const i of status.inboxes) now.set(`pending ${i.name}`, i.pending).set(`processed ${i.name}`, i.processed);
  for (const t of status.stream_tables) now.set(`staleness ${t.name}`, t.staleness_seconds ?? 0);
  for (const o of status.outboxes) now.set(`rows ${o.name}`, o.rows);
  for (const g of status.consumer_groups) now.set(`lag ${g.name}`, g.lag_rows);
  for (const key of [...series.keys()]) if (!now.has(key)) series.delete(key);
  for (const [key, value] of now) series.set(key, [...(series.get(key) ?? []), value].slice(-kept));
}

// rate is by how much a figure grew in a second, over the last ten looks.
function rate(key) {
  const values = series.get(key) ?? [];
  const n = Math.min(values.length, 11);
  if (n < 2) return '–';
  const seconds = (looks[looks.length - 1] - looks[looks.length - n]) / 1000;
  if (seconds <= 0) return '–';
  const value = (values[values.length - 1] - values[values.length - n]) / seconds;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)}/s`;
}

const number = (n) => ({ text: n.toLocaleString(), kind: 'number' });
const count = (n) => ({ text: n.toLocaleString(), kind: n > 0 ? 'number bad' : 'number' });
const course = (key) => ({ series: series.get(key) ?? [] });

const kinds = [
  {
    id: 'inboxes', title: 'Inboxes', columns: ['Inbox', 'State', 'Pending', 'Last minute', 'Oldest', 'Processed', 'Dead letters', 'Size'], of: (s) => s.inboxes,
    cells: (i) => [
      { text: i.name, link: link('inbox', i.name) },
      i.paused ? { text: 'paused', kind: 'weak' } : { text: i.health, kind: { healthy: 'good', degraded: 'weak' }[i.health] ?? 'bad' },
      number(i.pending), course(`pending ${i.name}`), age(i.oldest_pending_age_seconds), rate(`processed ${i.name}`), count(i.dead_letters), megabytes(i.total_bytes),
    ],
  },
  {
    id: 'stream-tables', title: 'Stream tables', columns: ['Stream table', 'State', 'Mode', 'Schedule', 'Age', 'Last minute', 'Rows waiting', 'Last error'],
    of: (s) => s.stream_tables,
    cells: (t) => [
      { text: t.name, link: link('stream_table', t.name) },
      { text: t.status, kind: { active: 'good', stale: 'weak', initializing: 'weak' }[t.status] ?? 'bad' },
      t.effective_mode, t.schedule, age(t.staleness_seconds), course(`staleness ${t.name}`),
      t.waiting === null ? '–' : number(t.waiting), t.last_error ?? '',
    ],
  },
  {
    id: 'outboxes', title: 'Outboxes', columns: ['Outbox', 'Storage', 'Rows', 'Last minute', 'Oldest', 'Size'], of: (s) => s.outboxes,
    cells: (o) => [
      { text: o.name, link: link('outbox', o.name) }, { text: o.storage_status, kind: o.storage_status === 'ok' ? 'good' : 'bad' },
      number(o.rows), course(`rows ${o.name}`), age(o.oldest_age_seconds), megabytes(o.total_bytes),
    ],
  },
  {
    id: 'groups', title: 'Consumer groups', columns: ['Group', 'State', 'Outbox', 'Rows behind', 'Last minute', 'Leased', 'Dead letters'], of: (s) => s.consumer_groups,
    cells: (g) => [
      { text: g.name, link: link('group', g.name) },
      g.paused ? { text: 'paused', kind: 'weak' } : { text: `${g.healthy_consumers} of ${g.consumers} alive`, kind: g.lag_rows > 0 && g.healthy_consumers === 0 ? 'bad' : 'good' },
      g.outbox, number(g.lag_rows), course(`lag ${g.name}`), number(g.leased_rows), count(g.dead_letters),
    ],
  },
  {
    id: 'tasks', title: 'Background work', columns: ['Task', 'Last run', 'Runs', 'Last error'], of: (s) => s.tasks,
    cells: (t) => [t.task, t.last_run_age_seconds === null ? 'never' : `${age(t.last_run_age_seconds)} ago`, number(t.runs), { text: t.last_error ?? '', kind: 'bad' }],
  },
];

// show brings the tables up to date.
export function show(container, status, at) {
  note(status, at);
  for (const kind of kinds) {
    const rows = kind.of(status);
    if (!kind.section && rows.length > 0) {
      kind.table = table(kind.columns);
      kind.section = el('section', { id: kind.id, 'aria-labelledby': `${kind.id}-title` }, el('h2', { id: `${kind.id}-title` }, kind.title), el('div', { class: 'scroll' }, kind.table.node));
      container.append(kind.section);
    }
    if (!kind.section) continue;
    kind.section.hidden = rows.length === 0;
    kind.table.update(rows.map((row) => ({ key: row.name ?? row.task, cells: kind.cells(row) })));
  }
}
