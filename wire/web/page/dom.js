// Elements, tables and the text forms of values.

// el makes an element. Children are nodes or texts, never markup.
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (value !== '') e.setAttribute(name, value);
  }
  e.append(...children);
  return e;
}

// table shows rows. A row is an object of column and value; on a phone it is shown as
// a card. numeric lists the columns that are right-aligned.
export function table(rows, empty, numeric = []) {
  if (!rows.length) return el('p', {}, empty);
  const columns = Object.keys(rows[0]);
  const align = (c) => (numeric.includes(c) ? 'num' : '');
  const head = el('thead', {}, el('tr', {}, ...columns.map((c) => el('th', { scope: 'col', class: align(c) }, c))));
  const body = rows.map((r) => el('tr', {}, ...columns.map((c) => el('td', { 'data-label': c, class: align(c) }, r[c]))));
  return el('div', { class: 'scroll' }, el('table', { class: 'cards' }, head, el('tbody', {}, ...body)));
}

const figures = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const few = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

export const number = (n) => (n < 10 ? few : figures).format(n);

// when writes an ISO time in UTC, to the second. short leaves out the day.
export function when(iso, short = false) {
  const text = String(iso).replace('T', ' ').replace(/(\.\d+)?Z$/, '');
  return short ? text.slice(11) : text + ' UTC';
}

// exactly writes an ISO time in UTC, with its fraction of a second.
export const exactly = (iso) => String(iso).replace('T', ' ').replace(/Z$/, ' UTC');

// left writes the time until a generator's bits or numbers end.
export function left(ends, days) {
  if (ends == null) return '–';
  const n = Number(days);
  const text = n < 0 ? 'ended' : n < 730 ? `${number(n)} days` : `${number(n / 365.25)} years`;
  return el('span', { class: n < 0 ? 'ended' : n < 365 ? 'soon' : '', title: when(ends) }, text);
}
