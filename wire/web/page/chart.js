// Lines of rates, as SVG.
import { number } from './dom.js';

const space = 'http://www.w3.org/2000/svg';

function svg(tag, attributes, ...children) {
  const e = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

// ceiling is the least 1, 2 or 5 times a power of ten that is not below n.
function ceiling(n) {
  const power = 10 ** Math.floor(Math.log10(Math.max(n, 1)));
  return power * [1, 2, 5, 10].find((m) => m * power >= n);
}

function path(values, width, height, top, steps) {
  const dx = width / Math.max(1, steps - 1);
  const x0 = width - dx * (values.length - 1);
  return values.map((v, i) => `${i ? 'L' : 'M'}${(x0 + i * dx).toFixed(1)} ${(height - (v / top) * height).toFixed(1)}`).join('');
}

// marks are the minutes on the axis, by the length of the chart in minutes. The
// length depends on the length of the history.
const marks = { 5: [5, 3, 1, 0], 15: [15, 10, 5, 0], 60: [60, 45, 30, 15, 0] };

// chart draws the rates of at most an hour, the newest at the right. now is the rate
// of the last seconds.
export function chart(history, stepSeconds, now) {
  const width = 560, height = 120, margin = 58, foot = 20;
  const values = [...history, now];
  const long = values.length * stepSeconds < 300 ? 5 : values.length * stepSeconds < 900 ? 15 : 60;
  const steps = (long * 60) / stepSeconds;
  const top = ceiling(Math.max(...values, 1));
  const peak = number(Math.max(...values, 0));
  const root = svg('svg', { viewBox: `0 0 ${width} ${height + foot + 14}`, role: 'img', 'aria-label': `Ids a second in the last ${long} minutes, at most ${peak}` });
  const plot = svg('g', { transform: `translate(${margin} 12)` });
  const w = width - margin - 4;
  for (const part of [0, 0.5, 1]) {
    const y = height - part * height;
    plot.append(svg('line', { class: 'grid', x1: 0, x2: w, y1: y, y2: y }),
      svg('text', { x: -6, y: y + 4, 'text-anchor': 'end' }, number(top * part)));
  }
  for (const minutes of marks[long]) {
    plot.append(svg('text', { x: w - (minutes / long) * w, y: height + foot - 2, 'text-anchor': minutes === long ? 'start' : minutes ? 'middle' : 'end' },
      minutes ? `−${minutes} min` : 'now'));
  }
  if (history.length) {
    const line = path(values, w, height, top, steps);
    const start = w - (w / (steps - 1)) * (values.length - 1);
    plot.append(svg('path', { class: 'area', d: `${line}L${w} ${height}L${start.toFixed(1)} ${height}Z` }), svg('path', { class: 'line', d: line }));
  }
  root.append(plot);
  return root;
}

// spark draws one generator's hour without axes.
export function spark(values) {
  const root = svg('svg', { viewBox: '0 0 110 22', 'aria-hidden': 'true' });
  if (values.length > 1) root.append(svg('path', { class: 'line', d: path(values, 108, 20, Math.max(...values, 1), 360) }));
  return root;
}
