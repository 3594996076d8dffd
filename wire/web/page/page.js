// What the page shows comes from the JSON API beside it; see openapi.json.
import { chart, spark } from './chart.js';
import { explain } from './inspect.js';
import { el, table, number, when, left } from './dom.js';

const $ = (id) => document.getElementById(id);
const every = 2000; // milliseconds between two looks at the server

let token = sessionStorage.getItem('token');
let status = {};
let layouts = [];
let previous = null; // { at, issued by name } of the look that rates count from
let rates = {}; // ids a second by name, between the last two such looks

// api sends a request and returns its JSON; errors carry SQL's message.
async function api(method, path, body, headers = {}) {
  if (token) headers.Authorization = 'Bearer ' + token;
  const answer = await fetch('api/v1/' + path, { method, headers, body: body && JSON.stringify(body) });
  if (answer.status === 204) return null;
  const value = await answer.json();
  if (answer.ok) return value;
  if (answer.status === 401) showLogin();
  const e = new Error(value.error.message + (value.error.hint ? ' — ' + value.error.hint : ''));
  e.status = answer.status;
  throw e;
}

function showLogin() {
  token = null;
  sessionStorage.removeItem('token');
  $('login').hidden = false;
  for (const s of document.querySelectorAll('[data-needs-login]')) s.hidden = true;
}

function showAll() {
  $('login').hidden = true;
  for (const s of document.querySelectorAll('[data-needs-login]')) s.hidden = false;
}

function showStatus() {
  const ready = el('b', { class: status.ready ? '' : 'bad' }, status.ready ? 'ready' : 'not ready');
  $('state').replaceChildren(ready, ` · version ${status.version} · id space ${status.store} · up since ${when(status.started)}` +
    (status.reason ? ` · ${status.reason}` : ''));
  $('notes').hidden = !status.notes.length;
  $('notes').replaceChildren(...status.notes.map((n) => el('li', {}, n)));
  $('create-open').hidden = !status.admin;
  const who = status.users ? [`${status.user}${status.admin ? ' (admin)' : ''} `, el('button', { class: 'plain', onclick: logOut }, 'Log out')]
    : ['no users: whoever reaches this address may draw'];
  $('who').replaceChildren(...who);
}

async function logOut() {
  await api('DELETE', 'login').catch(() => {}); // it may have ended already
  showLogin();
}

// measure takes the rates anew, where the last look is long enough ago.
function measure(all, now) {
  const seconds = previous ? (now - previous.at) / 1000 : 0;
  if (previous && seconds < 1) return;
  const issued = Object.fromEntries(all.map((g) => [g.name, Number(g.issued ?? 0)]));
  if (previous) {
    rates = Object.fromEntries(Object.entries(issued).map(([name, n]) => [name, Math.max(0, n - (previous.issued[name] ?? 0)) / seconds]));
  }
  previous = { at: now, issued };
}

function showGenerators(all, history, now) {
  measure(all, now);
  const rows = all.map((g) => ({
    Name: el('code', {}, g.name), Kind: g.kind, 'Now /s': number(rates[g.name] ?? 0), 'Last hour': spark(history.generators[g.name] ?? []),
    Issued: number(Number(g.issued ?? 0)), 'In hand': g.buffered == null ? '–' : number(Number(g.buffered)), 'Reserved to': reserved(g),
    Left: left(g.ends, g.days_left), '': actions(g),
  }));
  $('generators').replaceChildren(table(rows, 'Nobody has drawn an id yet: draw one.', ['Now /s', 'Issued', 'In hand', 'Reserved to']));
  $('names').replaceChildren(...all.map((g) => el('option', { value: g.name })));
  const rate = Object.values(rates).reduce((a, b) => a + b, 0);
  $('rate-now').textContent = number(rate);
  $('rate-peak').textContent = number(Math.max(rate, ...history.total, 0));
  $('rate-issued').textContent = number(all.reduce((n, g) => n + Number(g.issued ?? 0), 0));
  $('rate-chart').replaceChildren(chart(history.total, history.step_seconds, rate));
  showErrors(all);
}

// showErrors lists the generators of which a draw failed on this server.
function showErrors(all) {
  const rows = all.filter((g) => g.last_error).map((g) => ({ Generator: el('code', {}, g.name), When: when(g.last_error_at), 'Why a draw failed last': g.last_error }));
  $('errors').replaceChildren(...(rows.length ? [el('h3', {}, 'Failures'), table(rows, '')] : []));
}

// server is a row of nextid.nodes as people read it.
function server(n) {
  const clock = [Number(n.clock_ahead_ms) ? `${n.clock_ahead_ms} ms from this one's` : 'as this one', n.store_ahead_ms == null ? '' : `${n.store_ahead_ms} ms from the store's`];
  return {
    Server: `${n.host}, process ${n.pid}${n.this ? ' (this one)' : ''}`, State: n.state === 'up' && !n.ready ? 'up, not ready' : n.state, Address: n.address,
    Version: n.version, 'Worker ids': n.workers || '–', Issued: number(Number(n.issued)), '/s': number(Number(n.per_second)), 'Up since': when(n.started_at),
    Clock: clock.filter(Boolean).join(', '),
  };
}

// reserved is the end of what a server may issue: a time or a number.
function reserved(g) {
  const n = Number(g.reserved_until ?? 0);
  if (!n) return '–';
  return g.kind === 'snowflake' || g.kind === 'ring' ? when(new Date(n).toISOString(), true) : number(n);
}

function actions(g) {
  if (!status.admin) return '';
  return el('button', { class: 'plain', 'aria-label': `Drop ${g.name}`, onclick: async () => {
    if (!confirm(`Drop the generator ${g.name}? A new one of that name goes on above its numbers.`)) return;
    await api('DELETE', `generators/${encodeURIComponent(g.name)}`).catch((e) => { $('draw-result').textContent = e.message; });
    refresh();
  } }, 'Drop');
}

function plain(rows, empty) {
  return table(rows.map((r) => {
    const shown = {};
    for (const [k, v] of Object.entries(r)) {
      const time = typeof v === 'string' && /^\d{4}-\d\d-\d\dT/.test(v);
      shown[k.replaceAll('_', ' ')] = v == null ? '–' : time ? when(v) : String(v);
    }
    return shown;
  }), empty);
}

async function refresh() {
  try {
    const now = performance.now();
    status = await api('GET', 'status');
    showAll();
    showStatus();
    const [generators, history, nodes, workers, sessions, databases, rings] = await Promise.all([
      api('GET', 'generators'), api('GET', 'history'), api('GET', 'nodes'), api('GET', 'workers'), api('GET', 'sessions'),
      api('GET', 'databases'), api('GET', 'rings'),
    ]);
    if (!layouts.length) {
      layouts = (await api('GET', 'layouts')).layouts;
    }
    showGenerators(generators.generators, history, now);
    $('nodes').replaceChildren(table(nodes.nodes.map(server), 'No server has reported itself.', ['Issued', '/s']));
    $('workers').replaceChildren(plain(workers.workers, 'No worker id is held: no snowflake was drawn from yet.'));
    $('sessions').replaceChildren(plain(sessions.sessions.filter((s) => s.application_name !== 'http'), 'No session.'));
    const parts = [];
    if (databases.databases.length) parts.push(el('h3', {}, 'Databases of ticket generators'), plain(databases.databases, ''));
    if (rings.rings.length) parts.push(el('h3', {}, 'Rings'), plain(rings.rings, ''));
    $('parts').replaceChildren(...parts);
  } catch (e) {
    if (e.status !== 401) $('state').replaceChildren(el('b', { class: 'bad' }, 'no answer'), ` · ${e.message}`);
  }
}

$('login-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  $('login-error').textContent = '';
  try {
    const bytes = new TextEncoder().encode($('login-user').value + ':' + $('login-password').value);
    const basic = 'Basic ' + btoa(String.fromCharCode(...bytes));
    token = null;
    ({ token } = await api('POST', 'login', undefined, { Authorization: basic }));
    sessionStorage.setItem('token', token);
    $('login-password').value = '';
    refresh();
  } catch (e) {
    $('login-error').textContent = e.message;
  }
});

$('draw-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    const name = encodeURIComponent($('draw-name').value);
    let id;
    try {
      [id] = (await api('POST', `generators/${name}/ids`)).ids;
    } catch (e) { // a kind whose ids are texts
      [id] = (await api('POST', `generators/${name}/codes`).catch(() => { throw e; })).codes;
    }
    $('draw-result').replaceChildren(el('code', {}, id), ' ', el('button', { class: 'plain', onclick: () => inspect(id) }, 'Take it apart'));
    refresh();
  } catch (e) {
    $('draw-result').replaceChildren(el('span', { class: 'error' }, e.message));
  }
});

async function inspect(id) {
  $('inspect-id').value = id;
  try {
    const parsed = await api('GET', `parse/${encodeURIComponent(id)}`);
    $('inspect-result').replaceChildren(...explain(id, parsed, layouts));
  } catch (e) {
    $('inspect-result').replaceChildren(el('p', { class: 'error' }, e.message));
  }
}

$('inspect-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const id = $('inspect-id').value.trim();
  if (id) inspect(id);
});

$('create-open').addEventListener('click', () => $('create').showModal());
$('create-close').addEventListener('click', () => $('create').close());
$('create-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  $('create-error').textContent = '';
  try {
    const body = { kind: $('create-kind').value, options: JSON.parse($('create-options').value || '{}') };
    await api('PUT', `generators/${encodeURIComponent($('create-name').value)}`, body);
    $('create').close();
    refresh();
  } catch (e) {
    $('create-error').textContent = e.message;
  }
});
for (const kind of ['snowflake', 'segment', 'counter', 'ring', 'dated', 'ticket', 'auto_random', 'uuid', 'ulid']) {
  $('kinds').append(el('option', { value: kind }));
}

// The page looks at the server while somebody looks at the page.
async function watch() {
  if (!document.hidden && $('login').hidden) await refresh();
  setTimeout(watch, every);
}
watch();
