// The page shows answers of the JSON API of the same server; see openapi.json.
import { chart, spark } from './chart.js';
import { explain } from './inspect.js';
import { el, table, number, when, left } from './dom.js';

const $ = (id) => document.getElementById(id);
const every = 2000; // milliseconds between two refreshes
const manyRows = matchMedia('(max-width: 640px)').matches ? 20 : 50; // rows of generators shown at once

let token = sessionStorage.getItem('token');
let status = {};
let layouts = [];
let previous = null; // { at, issued and waits by name } of the refresh that rates count from
let rates = {}; // ids a second by name, between the last two such refreshes
let waits = {}; // draws a second that waited, by name, between the same refreshes
let rowLimit = manyRows;
let viewed = null; // name of the generator whose own view is open
const answers = {}; // { at, value } of the last answer, by path
const before = {}; // { at, value } of the last answer while the store answered, by path
const failures = {}; // { since, message } of paths whose last request has failed

// api sends a request and returns its JSON. An error has SQL's message and hint.
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
    (status.reason && !status.outage ? ` · ${status.reason}` : ''));
  $('notes').hidden = !status.notes.length;
  $('notes').replaceChildren(...status.notes.map((n) => el('li', {}, n)));
  $('create-open').hidden = !status.admin;
  const who = status.users ? [`${status.user}${status.admin ? ' (admin)' : ''} `, el('button', { class: 'plain', onclick: logOut }, 'Log out')]
    : ['no users: every client that reaches this address may draw'];
  $('who').replaceChildren(...who);
}

async function logOut() {
  await api('DELETE', 'login').catch(() => {}); // the login may have ended already
  showLogin();
}

// keys return the identity of a row, by path. load compares rows of two answers by it.
const keys = { generators: (r) => r.name, nodes: (r) => `${r.host} ${r.pid}`, workers: (r) => `${r.bits}/${r.worker}` };

// load requests a path and returns its last answer, null without one. During an outage
// of the store it adds the rows that only the store has, from the last answer before the
// outage, with their age. Without a login it throws. Other errors are kept for showOutage.
async function load(path) {
  try {
    const answer = { at: new Date(), value: await api('GET', path) };
    if (!answer.value.store_down_since) before[path] = answer;
    else if (keys[path] && before[path]) {
      const own = new Set(answer.value[path].map(keys[path]));
      const age = `as of ${when(before[path].at.toISOString(), true)}`;
      answer.value[path].push(...before[path].value[path].filter((r) => !own.has(keys[path](r))).map((r) => ({ ...r, age })));
    }
    answers[path] = answer;
    delete failures[path];
  } catch (e) {
    if (e.status === 401) throw e;
    failures[path] = { since: failures[path]?.since ?? new Date(), message: e.message };
  }
  return answers[path]?.value ?? null;
}

// seconds writes a duration.
const seconds = (s) => (s >= 7200 ? `${number(Math.floor(s / 3600))} h` : s >= 600 ? `${number(Math.floor(s / 60))} min` : `${number(Math.floor(s))} s`);

// showOutage shows since when the store or the server has not answered, why, and for how
// long ids last.
function showOutage() {
  const outage = !failures.status && status.outage;
  const failed = Object.values(failures);
  $('outage').hidden = !outage && !failed.length;
  if (outage) {
    const lasts = Object.entries(outage.lasts_seconds).sort((a, b) => a[1] - b[1]);
    const shown = lasts.slice(0, 3).map(([name, s]) => (s > 0 ? `ids of ${name} last for ${seconds(s)}` : `${name} issues none`));
    if (lasts.length > 3) shown.push(`${lasts.length - 3} more last longer`);
    $('outage').replaceChildren(el('b', {}, `The store has not answered since ${when(outage.since)}: ${shown.join(', ') || 'nothing is reserved'}.`),
      el('br'), `${outage.error}. ${outage.hint ?? ''}`, el('br'), 'Shown below is what this server knows; rows that only the store has carry their age.');
  } else if (failed.length) {
    const first = failed.reduce((a, b) => (a.since < b.since ? a : b));
    const old = Object.keys(failures).filter((path) => answers[path]);
    $('outage').replaceChildren(el('b', {}, `${failures.status ? 'The server' : old.join(', ')} has not answered since ${when(first.since.toISOString())}.`),
      ` ${first.message}`, ...(old.length ? [el('br'), `Shown as of ${old.map((p) => `${when(answers[p].at.toISOString(), true)} (${p})`).join(', ')}.`] : []));
  }
}

// measure computes the rates, at most once a second.
function measure(all, now) {
  const passed = previous ? (now - previous.at) / 1000 : 0;
  if (previous && passed < 1) return;
  const counts = (column) => Object.fromEntries(all.map((g) => [g.name, Number(g[column] ?? 0)]));
  const issued = counts('issued'), waited = counts('waits');
  if (previous) {
    const perSecond = (new_, old) => Object.fromEntries(Object.entries(new_).map(([name, n]) => [name, Math.max(0, n - (old[name] ?? 0)) / passed]));
    rates = perSecond(issued, previous.issued);
    waits = perSecond(waited, previous.waited);
  }
  previous = { at: now, issued, waited };
}

// orders sort generators. Equal values stay in the order of the names.
const orders = {
  name: () => 0,
  rate: (a, b) => (rates[b.name] ?? 0) - (rates[a.name] ?? 0),
  left: (a, b) => (a.days_left ?? Infinity) - (b.days_left ?? Infinity) || 0,
  failures: (a, b) => String(b.last_error_at ?? '').localeCompare(String(a.last_error_at ?? '')),
};

function generatorTable(all, history, empty) {
  const lasts = status.outage?.lasts_seconds ?? {};
  const shown = all.slice(0, rowLimit);
  const rows = table(shown.map((g) => ({
    Name: el('button', { class: 'name', onclick: () => view(g.name) }, g.name), Kind: g.age ? `${g.kind}, ${g.age}` : g.kind, 'Now /s': number(rates[g.name] ?? 0),
    'Last hour': spark(history.generators[g.name] ?? []), Issued: number(Number(g.issued ?? 0)),
    'In hand': (g.buffered == null ? '–' : number(Number(g.buffered))) + (lasts[g.name] > 0 ? `, ${seconds(lasts[g.name])}` : ''), 'Reserved to': reserved(g),
    Left: left(g.ends, g.days_left), '': actions(g),
  })), empty, ['Now /s', 'Issued', 'In hand', 'Reserved to']);
  const more = all.length - shown.length;
  return el('div', {}, rows, ...(more > 0 ? [el('button', { class: 'plain', onclick: () => { rowLimit += manyRows; refresh(); } }, `Show ${Math.min(more, manyRows)} of ${more} more`)] : []));
}

// view opens the own view of a generator.
function view(name) {
  viewed = name;
  showView();
  $('view').showModal();
}

// showView fills the own view of a generator from the last answers.
function showView() {
  const g = answers.generators?.value.generators.find((one) => one.name === viewed);
  if (!g) return;
  const facts = [['Kind', g.kind], ['Definition', JSON.stringify(g.options)], ['Created', when(g.created_at)], ['Issued', number(Number(g.issued ?? 0))],
    ['Draws that waited', `${number(Number(g.waits ?? 0))}, now ${number(waits[g.name] ?? 0)} a second`], ['Reserved to', reserved(g)], ['Ends', g.ends ? when(g.ends) : 'never'],
    ...(g.ids_per_second ? [['At most', `${number(Number(g.ids_per_second))} ids a second and server`]] : []),
    ...(g.wait_p99_ms ? [['How long they waited', `half at most ${g.wait_p50_ms} ms, 99 of 100 at most ${g.wait_p99_ms} ms`]] : []),
    ...(g.errors ? [['Draws that failed', Object.entries(g.errors).map(([code, n]) => `${code}: ${number(n)}`).join(', ')]] : []),
    ...(g.last_error ? [['Last failure', `${when(g.last_error_at)}: ${g.last_error}`]] : []),
    ...quotasOf(g.name), ...fedBy(g.name)];
  const list = el('dl');
  for (const [k, v] of facts) list.append(el('dt', {}, k), el('dd', {}, v));
  const history = answers.history?.value;
  const timed = ofTime(g), step = Number(g.step ?? 0);
  const rest = timed ? Math.max(0, Number(g.reserved_until ?? 0) - Date.now()) : Number(g.buffered ?? 0);
  const text = timed ? `${seconds(rest / 1000)} of a time slice of ${seconds(step / 1000)} left` : `${number(rest)} of a block of ${number(step)} in hand`;
  const block = step > 0 ? [el('label', {}, `${text} `, el('meter', { min: 0, max: step, value: Math.min(rest, step) }))] : [];
  $('view-title').textContent = g.name;
  $('view-body').replaceChildren(chart(history?.generators[g.name] ?? [], history?.step_seconds ?? 10, rates[g.name] ?? 0), ...block, list);
}

const matches = (pattern, name) => pattern == null || pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)));
const quotasOf = (name) => (answers.quotas?.value.quotas ?? []).filter((q) => matches(q.name, name))
  .map((q) => ['Quota', `${number(Number(q.ids))} ids per ${q.per}${q.usename ? ` for ${q.usename}` : ''}, ${number(Number(q.refused))} refused`]);
const fedBy = (name) => (answers.feeds?.value.feeds ?? []).filter((f) => f.name === name)
  .map((f) => ['Feeds', `${f.column_name} in ${f.database}${f.left == null ? '' : `, ${number(Number(f.left))} left`}`]);

// showGenerators shows the generators that match the search. If there are manyGenerators,
// it folds the generators without a draw in the last hour.
const manyGenerators = 20;
function showGenerators(all, history) {
  const wanted = $('find').value.trim().toLowerCase();
  const found = all.filter((g) => g.name.toLowerCase().includes(wanted) || g.kind.includes(wanted)).sort(orders[$('sort').value]);
  const idle = (g) => found.length >= manyGenerators && !g.last_error && !rates[g.name] && !(history.generators[g.name] ?? []).some((n) => n > 0);
  const folded = found.filter(idle);
  const empty = all.length ? 'No generator matches, or all are idle.' : 'No generator yet: draw an id.';
  $('generators').replaceChildren(generatorTable(found.filter((g) => !idle(g)), history, empty));
  $('find-form').hidden = all.length < manyGenerators;
  $('idle').hidden = !folded.length;
  $('idle-count').textContent = `${folded.length} idle for an hour`;
  $('idle-rows').replaceChildren(...($('idle').open ? [generatorTable(folded, history, '')] : []));
  $('names').replaceChildren(...all.map((g) => el('option', { value: g.name })));
  $('kinds').replaceChildren(...(status.kinds ?? []).map((kind) => el('option', { value: kind })));
  const rate = Object.values(rates).reduce((a, b) => a + b, 0);
  $('rate-now').textContent = number(rate);
  $('rate-waits').textContent = number(Object.values(waits).reduce((a, b) => a + b, 0));
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

// server returns the columns of a row of nextid.nodes.
function server(n) {
  return {
    Server: `${n.host}, process ${n.pid}${n.this ? ' (this one)' : ''}`, State: n.age ?? (n.state === 'up' && !n.ready ? 'up, not ready' : n.state), Address: n.address,
    Version: n.version, 'Worker ids': n.workers || '–', Issued: number(Number(n.issued)),
    '/s': number(n.this ? Object.values(rates).reduce((a, b) => a + b, 0) : Number(n.per_second)), 'Up since': when(n.started_at),
    Clock: n.store_ahead_ms == null ? '' : Number(n.store_ahead_ms) ? `${n.store_ahead_ms} ms from the store's` : "as the store's",
  };
}

// ofTime reports whether a generator reserves time.
const ofTime = (g) => g.kind === 'snowflake' || g.kind === 'ring';

// reserved returns the end of the reservation: a time or a number.
function reserved(g) {
  const n = Number(g.reserved_until ?? 0);
  if (!n) return '–';
  return ofTime(g) ? when(new Date(n).toISOString(), true) : number(n);
}

function actions(g) {
  if (!status.admin) return '';
  return el('button', { class: 'plain', 'aria-label': `Drop ${g.name}`, onclick: async () => {
    if (!confirm(`Drop the generator ${g.name}? A new one of that name continues above its numbers.`)) return;
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

// sections shows the answer of each path in a part of the page.
const sections = {
  nodes: ({ nodes }) => $('nodes').replaceChildren(table(nodes.map(server), 'No server has reported itself.', ['Issued', '/s'])),
  workers: ({ workers }) => $('workers').replaceChildren(plain(workers, 'No worker id is held: no snowflake was drawn from yet.')),
  sessions: ({ sessions }) => $('sessions').replaceChildren(plain(sessions.filter((s) => s.application_name !== 'http'), 'No session.')),
  databases: ({ databases }) => $('databases').replaceChildren(...(databases.length ? [el('h3', {}, 'Databases of ticket generators'), plain(databases, '')] : [])),
  rings: ({ rings }) => $('rings').replaceChildren(...(rings.length ? [el('h3', {}, 'Rings'), plain(rings, '')] : [])),
  quotas: () => {},
  feeds: () => {},
};

// refresh requests every path by itself: after an error the other parts of the page stay.
async function refresh() {
  try {
    const now = performance.now();
    status = (await load('status')) ?? status;
    if (!status.version || failures.status) return;
    showAll();
    showStatus();
    if (!status.kinds) return; // the server waits for its store and answers nothing else
    const both = Promise.all([load('generators'), load('history')]).then(([generators, history]) => {
      if (!generators || !history) return;
      if (!failures.generators) measure(generators.generators, now);
      showGenerators(generators.generators, history);
    });
    const shown = Object.entries(sections).map(async ([path, show]) => {
      const value = await load(path);
      if (value) show(value);
    });
    await Promise.all([both, ...shown]);
    if (!layouts.length) layouts = (await load('layouts'))?.layouts ?? [];
    if ($('view').open) showView();
  } catch (e) {
    if (e.status !== 401) throw e;
  } finally {
    showOutage();
  }
}

$('view-close').addEventListener('click', () => $('view').close());
for (const id of ['find', 'sort']) $(id).addEventListener('input', refresh);
$('find-form').addEventListener('submit', (event) => event.preventDefault());
$('idle').addEventListener('toggle', refresh);

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
    } catch (e) { // the kind may have texts as ids
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

// watch refreshes the page while it is visible.
async function watch() {
  if (!document.hidden && $('login').hidden) await refresh();
  setTimeout(watch, every);
}
watch();
