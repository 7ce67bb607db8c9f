// Makes and updates elements. All values get into the page as text.

const SVG = 'http://www.w3.org/2000/svg';

// el makes an element; children are elements or texts.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// cell is what a table shows: {text, kind, link, series}.
function fill(td, c) {
  const kind = c.kind ?? '';
  if (td.className !== kind) td.className = kind;
  if (c.series) {
    if (!td.firstChild) td.append(spark());
    draw(td.firstChild, c.series);
  } else if (c.link) {
    if (!td.firstChild) td.append(el('a'));
    if (td.firstChild.getAttribute('href') !== c.link) td.firstChild.setAttribute('href', c.link);
    setText(td.firstChild, c.text);
  } else {
    setText(td, c.text ?? '');
  }
}

// table makes a table with columns, and returns it with what updates its rows, each of which has a key; rows keep their elements, and so the focus.
export function table(columns) {
  const body = el('tbody');
  const node = el('table', {}, el('thead', {}, el('tr', {}, ...columns.map((c) => el('th', { scope: 'col' }, c)))), body);
  const known = new Map();
  const update = (rows) => {
    const keys = new Set(rows.map((r) => r.key));
    for (const [key, tr] of known) {
      if (!keys.has(key)) { tr.remove(); known.delete(key); }
    }
    rows.forEach((row, n) => {
      let tr = known.get(row.key);
      if (!tr) {
        tr = el('tr', {}, ...columns.map((c, i) => el(i === 0 ? 'th' : 'td', i === 0 ? { scope: 'row', 'data-label': c } : { 'data-label': c })));
        known.set(row.key, tr);
      }
      if (body.children[n] !== tr) body.insertBefore(tr, body.children[n] ?? null);
      row.cells.forEach((c, i) => fill(tr.children[i], typeof c === 'object' && c !== null ? c : { text: c }));
    });
  };
  return { node, update };
}

function spark() {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', 'spark');
  svg.setAttribute('viewBox', '0 0 60 18');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(document.createElementNS(SVG, 'polyline'));
  return svg;
}

// draw shows the course of a figure, from 0 to its highest.
function draw(svg, values) {
  const top = Math.max(1, ...values);
  const points = values.map((v, n) => `${60 - values.length + n},${(17 - (16 * v) / top).toFixed(1)}`);
  svg.firstChild.setAttribute('points', points.join(' '));
}

// picture shows an SVG document that the server made. One of the same shape as the last only changes its texts and colours.
export function picture(container, text) {
  if (container.dataset.text === text) return;
  container.dataset.text = text;
  const next = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  if (next.namespaceURI !== SVG || next.querySelector('script, foreignObject')) return;
  const old = container.firstElementChild;
  if (!old || !merge(old, next)) container.replaceChildren(document.importNode(next, true));
}

function alike(a, b) {
  return a.nodeName === b.nodeName && a.childNodes.length === b.childNodes.length && [...a.childNodes].every((c, n) => alike(c, b.childNodes[n]));
}

function merge(old, next) {
  if (!alike(old, next)) return false;
  const copy = (a, b) => {
    if (b.nodeType === Node.TEXT_NODE) {
      if (a.data !== b.data) a.data = b.data;
      return;
    }
    for (const { name, value } of b.attributes ?? []) {
      if (a.getAttribute(name) !== value) a.setAttribute(name, value);
    }
    a.childNodes.forEach((c, n) => copy(c, b.childNodes[n]));
  };
  copy(old, next);
  return true;
}

// age writes seconds for people.
export function age(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} days`;
}

export const megabytes = (bytes) => `${(bytes / 1048576).toFixed(1)} MB`;

export const time = (text) => (text ? new Date(text).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' }) : '–');

export const link = (kind, name) => `#${kind}/${encodeURIComponent(name)}`;
