// Pictures: how a taint went, and how many decisions there were. Every word in them is text, never markup.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const LEVELS = ["clean", "corruption", "secret", "both"];

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function clock(ms) {
  return new Date(ms).toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}

// A workspace's taint as a line that steps: time to the right, what the agent has seen upwards.
function drawTaint(steps, now) {
  const [width, height, left, bottom] = [900, 190, 90, 30];
  const start = steps.length ? steps[0].at : now - 1;
  const span = Math.max(1, now - start);
  const x = (at) => left + ((at - start) / span) * (width - left - 16);
  const y = (taint) => height - bottom - 14 - Math.max(0, LEVELS.indexOf(taint)) * 42;
  const words = steps.map((step) => `${clock(step.at)}: ${step.taint}`).join("; ") || "It has seen nothing.";
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Taint over time. ${words}` });
  for (const level of LEVELS) {
    picture.append(svg("line", { x1: left, x2: width, y1: y(level), y2: y(level), class: "axis" }));
    picture.append(svg("text", { x: 4, y: y(level) + 4 }, level));
  }
  let [from, taint] = [start, steps.length ? steps[0].before || "clean" : "clean"];
  const piece = (until, next) => {
    const line = { "stroke-width": 4, "stroke-linecap": "round", class: `stroke-${taint}` };
    picture.append(svg("line", { ...line, x1: x(from), x2: x(until), y1: y(taint), y2: y(taint) }));
    if (next) picture.append(svg("line", { ...line, "stroke-width": 2, x1: x(until), x2: x(until), y1: y(taint), y2: y(next) }));
  };
  for (const step of steps) {
    piece(step.at, step.taint);
    [from, taint] = [step.at, step.taint];
  }
  piece(now, null);
  picture.append(svg("text", { x: left, y: height - 6 }, clock(start)));
  picture.append(svg("text", { x: width - 8, y: height - 6, "text-anchor": "end" }, "now"));
  return picture;
}

// Decisions in pieces of time, stacked by what came of them. Gives back the picture and what each colour means.
function drawNumbers(data) {
  const [width, height, left, bottom] = [900, 220, 44, 28];
  const names = [...new Set(data.pieces.flatMap((piece) => Object.keys(piece)))].sort();
  const sums = data.pieces.map((piece) => Object.values(piece).reduce((sum, count) => sum + count, 0));
  const most = Math.max(1, ...sums);
  const total = sums.reduce((sum, count) => sum + count, 0);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${total} decisions; at most ${most} in one of ${sums.length} pieces of time.` });
  const step = (width - left) / data.pieces.length;
  data.pieces.forEach((piece, at) => {
    let top = height - bottom;
    names.forEach((name, number) => {
      const high = ((piece[name] || 0) / most) * (height - bottom - 16);
      if (!high) return;
      top -= high;
      const bar = svg("rect", { x: left + at * step + 1, y: top, width: step - 2, height: high, class: `fill-${number % 6}` });
      bar.append(svg("title", {}, `${clock(data.start + at * data.piece_ms)}: ${piece[name]} ${name}`));
      picture.append(bar);
    });
  });
  picture.append(svg("line", { x1: left, x2: width, y1: height - bottom, y2: height - bottom, class: "axis" }));
  picture.append(svg("text", { x: left - 8, y: 20, "text-anchor": "end" }, String(most)));
  picture.append(svg("text", { x: left, y: height - 8 }, clock(data.start)));
  picture.append(svg("text", { x: width - 4, y: height - 8, "text-anchor": "end" }, "now"));
  const legend = names.map((name, number) => {
    const count = data.pieces.reduce((sum, piece) => sum + (piece[name] || 0), 0);
    return { count, name, mark: svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { width: 10, height: 10, class: `fill-${number % 6}` })) };
  });
  return { picture, legend };
}
