// An id as its bit fields, to scale, in every layout that fits.
import { el, exactly } from './dom.js';

// units are the units of a layout's tick in milliseconds.
const units = { ns: 1e-6, 'µs': 1e-3, us: 1e-3, ms: 1, s: 1000, m: 60000, h: 3600000 };

const meaning = {
  time: 'when it was made', reversed: 'when it was made, its bits in reverse', datacenter: 'which datacenter', worker: 'which server (worker id)',
  rollback: 'how often the clock was set back', sequence: 'which one of its tick', shard: 'which shard', counter: 'a counter', random: 'random',
  version: 'which kind of UUID (RFC 9562)', variant: 'always binary 10 (RFC 9562)', zero: 'always 0',
};

// uuidFields are the bits of the UUID versions that have fields, from RFC 9562.
const uuidFields = {
  1: 'time 32, time 16, version 4, time 12, variant 2, sequence 14, worker 48', 6: 'time 32, time 16, version 4, time 12, variant 2, sequence 14, worker 48',
  4: 'random 48, version 4, random 12, variant 2, random 62', 7: 'time 48, version 4, random 12, variant 2, random 62',
};

function fieldsOf(text) {
  return text.split(', ').map((f) => {
    const at = f.lastIndexOf(' ');
    return { kind: f.slice(0, at), bits: Number(f.slice(at + 1)) };
  });
}

// decode reads the fields of a layout from the lowest bit up.
function decode(value, fields) {
  let rest = value;
  const read = fields.toReversed().map((f) => {
    const width = BigInt(f.bits);
    const v = rest & ((1n << width) - 1n);
    rest >>= width;
    return { ...f, value: v };
  });
  return { fields: read.reverse(), over: rest };
}

function reversed(v, bits) {
  return BigInt('0b' + v.toString(2).padStart(bits, '0').split('').reverse().join(''));
}

// timeOf returns the Unix time (ms) of an id, by a layout's epoch and unit.
function timeOf(layout, fields) {
  const f = fields.find((x) => x.kind === 'time' || x.kind === 'reversed');
  const unit = /^(\d+)(\D+)$/.exec(layout.unit ?? '');
  if (!f || !unit || !layout.epoch) return null;
  const ticks = f.kind === 'reversed' ? reversed(f.value, f.bits) : f.value;
  return Date.parse(layout.epoch) + Number(ticks) * Number(unit[1]) * (units[unit[2]] ?? NaN);
}

function bits(fields) {
  const total = fields.reduce((n, f) => n + f.bits, 0);
  const strip = el('div', { class: 'bits', role: 'img', 'aria-label': fields.map((f) => `${f.kind}, ${f.bits} bits: ${f.value}`).join('; ') });
  fields.forEach((f, i) => {
    const part = el('div', { class: `k${i % 6}`, title: `${f.kind}: ${f.bits} bits, ${f.value}` }, el('span', {}, el('b', {}, f.kind), `${f.bits} bits`));
    part.style.flex = `${f.bits} 1 0`;
    part.style.flexBasis = `${(100 * f.bits) / total}%`;
    strip.append(part);
  });
  const list = el('dl');
  fields.forEach((f, i) => list.append(el('dt', {}, el('span', { class: `swatch k${i % 6}` }), f.kind),
    el('dd', {}, [f.value, meaning[f.kind]].filter((x) => x !== undefined).join(' — ') + ` (${f.bits} bit${f.bits === 1 ? '' : 's'})`)));
  return [strip, list];
}

const iso = (ms) => exactly(new Date(ms).toISOString());

// explain shows an id with the server's fields. For a number it adds every layout in
// which the time would lie between the epoch and tomorrow.
export function explain(id, parsed, layouts) {
  const shown = [];
  const list = el('dl');
  for (const [k, v] of Object.entries(parsed)) list.append(el('dt', {}, k), el('dd', {}, k === 'time' ? exactly(v) : String(v)));
  shown.push(list);
  const uuid = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(id) && BigInt('0x' + id.replaceAll('-', ''));
  if (uuid !== false) {
    const version = Number((uuid >> 76n) & 15n);
    if (uuidFields[version]) shown.push(...bits(decode(uuid, fieldsOf(uuidFields[version])).fields));
    return shown;
  }
  if (!/^-?\d+$/.test(id)) return shown;
  const value = BigInt.asUintN(64, BigInt(id));
  const fits = [];
  for (const layout of layouts) {
    const read = decode(value, fieldsOf(layout.fields));
    const at = timeOf(layout, read.fields);
    if (read.over !== 0n || (at !== null && !(at <= Date.now() + 86400000))) continue;
    fits.push({ layout, at, fields: read.fields });
  }
  const first = fits.findIndex((f) => f.layout.name === parsed.layout);
  if (first > 0) fits.unshift(...fits.splice(first, 1));
  fits.forEach((f, i) => {
    const made = f.at === null ? '' : `, made ${iso(f.at)}`;
    shown.push(el('details', i ? {} : { open: 'open' }, el('summary', {}, `As ${f.layout.name}${made}`), ...bits(f.fields)));
  });
  return shown;
}
