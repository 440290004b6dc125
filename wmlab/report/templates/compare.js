// What differs between this page and other stored results, one or several of them. Texts, differences and intervals were
// worked out when the page was drawn; what is drawn here are stored numbers, all sides on one scale.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("compare-data").textContent);
  const byId = (id) => document.getElementById(id);
  const boxes = Array.from(document.querySelectorAll(".c-other"));
  const chosen = () => boxes.filter((box) => box.checked).map((box) => data.others[Number(box.value)]);
  const letter = (place) => String.fromCharCode(65 + place); // A is this page

  // --- elements ---
  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const svg = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const number = (value) => {
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e6) return String(value).replace("-", "−");
    return (size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(4))) : value.toExponential(2)).replace(/-/g, "−");
  };
  const head = (text, scope) => Object.assign(element("th", text), {scope});
  const table = (name, caption, heads, rows) => {
    const made = element("table", undefined, "compared");
    made.append(element("caption", caption));
    const top = element("thead");
    const line = element("tr");
    line.append(...heads.map((text) => head(text, "col")));
    top.append(line);
    const body = element("tbody");
    for (const [first, ...cells] of rows) {
      const row = element("tr");
      const lead = head(undefined, "row");
      lead.append(element("code", first));
      row.append(lead, ...cells);
      body.append(row);
    }
    made.append(top, body);
    const scroll = element("div", undefined, "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", name);
    scroll.append(made);
    return scroll;
  };
  const withNote = (text, note, strong) => {
    const made = element("td");
    made.append(element(strong ? "strong" : "span", text));
    if (note) made.append(element("small", note));
    return made;
  };
  const verdict = ([word, mark]) => {
    const made = element("td");
    const inner = element("span", undefined, `verdict ${word}`);
    if (mark) inner.append(Object.assign(element("span", `${mark} `), {ariaHidden: "true"}));
    inner.append(word);
    made.append(inner);
    return made;
  };

  // --- what differs: a column for each side, a row where any of the others differs ---
  const names = (others, part, take) => [...new Set(others.flatMap((other) => other[part].map(take)))];
  const same = (other, part) => element("td", part === "metrics" && other.left ? "not kept here" : "as A", "aside");
  const beside = (others, part, nameOf, here, there) => names(others, part, nameOf).map((name) => {
    const rows = others.map((other) => other[part].find((row) => nameOf(row) === name));
    return [name, here(rows.find(Boolean)), ...rows.map((row, place) => (row ? there(row) : same(others[place], part)))];
  });
  const show = () => {
    const others = chosen();
    const parts = [];
    if (others.length) {
      const key = element("ul", undefined, "key");
      key.append(element("li", "A: this page"), ...others.map((other, place) => element("li", `${letter(place + 1)}: ${other.title}`)));
      parts.push(key);
      const heads = ["A", ...others.map((_, place) => letter(place + 1))];
      const first = (row) => row[0];
      const claims = beside(others, "claims", first, (row) => verdict(row[1]), (row) => verdict(row[2]));
      if (claims.length) parts.push(element("h3", "Claims"), table("Claims that differ", "Claims that came out otherwise, or that one side alone makes.", ["Claim", ...heads], claims));
      const metrics = beside(others, "metrics", (row) => row.name, (row) => Object.assign(element("td", row.one), {title: row.about}), (row) => {
        const words = `${row.difference}${row.spread ? ` in ${row.spread}` : ""}: ${row.chance}`;
        const made = withNote(row.other, words, row.within === false);
        made.dataset.chance = row.chance;
        return made;
      });
      const told = others.map((other, place) => `${letter(place + 1)}: ${other.same} the same${other.left ? `, ${other.left} more differ` : ""}`).join("; ");
      parts.push(element("h3", "Metrics"));
      if (metrics.length) parts.push(table("Metrics that differ", `Under each number how much it is above A, with Welch’s 95 % interval over seeds, and whether chance may have made it; strong: beyond chance. Left out: ${told}.`, ["Metric", ...heads], metrics));
      else parts.push(element("p", `No metric differs. ${told}.`, "aside"));
      const values = beside(others, "values", first, (row) => withNote(row[1], row[2]), (row) => withNote(row[3], row[4]));
      if (values.length) parts.push(element("h3", "Values"), table("Values that differ", "What is not the same, with where it was written.", ["Setting", ...heads], values));
    }
    byId("c-shown").replaceChildren(...parts);
    offer(others);
  };

  // --- one metric of all sides, on one scale ---
  const offer = (others) => {
    const select = byId("c-metric");
    const before = select.value;
    const listed = names(others, "metrics", (row) => row.name).filter((name) => data.here[name] || others.some((other) => other.numbers[name]));
    select.replaceChildren(...listed.map((name) => Object.assign(element("option", name), {value: name})));
    if (listed.includes(before)) select.value = before;
    byId("c-chart").hidden = !listed.length;
    draw();
  };
  const WIDE = 640;
  const HIGH = 260;
  const box = {left: 64, right: 12, top: 12, bottom: 38};
  const draw = () => {
    const name = byId("c-metric").value;
    const others = chosen();
    const all = [data.here[name], ...others.map((other) => other.numbers[name] || (other.left || other.metrics.some((row) => row.name === name) ? undefined : data.here[name]))];
    const sides = all.map((found, place) => ({found, name: letter(place), place})).filter(({found}) => found);
    if (!sides.length) {
      byId("c-drawn").replaceChildren();
      return;
    }
    const lines = sides.every(({found}) => found.curve);
    const spots = ({found}) => (lines ? found.curve.map((mean, t) => [found.steps[t], mean, found.errors ? found.errors[t] : null]) : [[0, found.mean, found.error]]);
    const drawn = sides.map((side) => ({...side, spots: spots(side).filter(([, mean]) => Number.isFinite(mean))}));
    const heights = drawn.flatMap((side) => side.spots.flatMap(([, mean, error]) => [mean - (error || 0), mean + (error || 0)]));
    const across = drawn.flatMap((side) => side.spots.map(([x]) => x));
    const [low, high, from, to] = [Math.min(...heights), Math.max(...heights), Math.min(...across), Math.max(...across)];
    const x = (value, place) => box.left + (WIDE - box.left - box.right) * (lines ? (to > from ? (value - from) / (to - from) : 0.5) : (place + 0.5) / sides.length);
    const y = (value) => HIGH - box.bottom - (HIGH - box.top - box.bottom) * (high > low ? (value - low) / (high - low) : 0.5);
    const chart = svg("svg", {viewBox: `0 0 ${WIDE} ${HIGH}`, "class": "curve", role: "img", "aria-label": `${name} of ${sides.map((side) => side.name).join(", ")} on one scale; the table says the same`});
    chart.append(svg("path", {"class": "axis", d: `M${box.left},${box.top}V${HIGH - box.bottom}H${WIDE - box.right}`}));
    const words = [[box.left - 6, box.top + 8, number(high), "end"], [box.left - 6, HIGH - box.bottom, number(low), "end"]];
    if (lines) words.push([box.left, HIGH - box.bottom + 16, number(from), "start"], [WIDE - box.right, HIGH - box.bottom + 16, number(to), "end"], [(box.left + WIDE - box.right) / 2, HIGH - 6, "environment steps", "middle"]);
    for (const [px, py, text, anchor] of words) chart.append(svg("text", {x: px, y: py, "text-anchor": anchor}, text));
    drawn.forEach((side, place) => {
      const group = svg("g", {"class": `side side-${side.place % 6}`});
      if (lines) group.append(svg("path", {d: side.spots.map(([at, mean], t) => `${t ? "L" : "M"}${x(at, place).toFixed(1)},${y(mean).toFixed(1)}`).join("")}));
      for (const [at, mean, error] of side.spots) {
        if (Number.isFinite(error)) group.append(svg("path", {d: `M${x(at, place).toFixed(1)},${y(mean - error).toFixed(1)}V${y(mean + error).toFixed(1)}`}));
        const dot = svg("circle", {cx: x(at, place).toFixed(1), cy: y(mean).toFixed(1), r: 3.4, "data-value": mean, "data-side": side.name});
        dot.append(svg("title", {}, `${side.name}: ${number(mean)}`));
        group.append(dot);
      }
      const [at, mean] = side.spots[side.spots.length - 1];
      group.append(svg("text", lines ? {x: x(at, place) - 8, y: y(mean) - 7, "text-anchor": "end"} : {x: x(at, place), y: HIGH - box.bottom + 16, "text-anchor": "middle"}, side.name));
      chart.append(group);
    });
    byId("c-drawn").replaceChildren(chart, element("p", `${name}: mean ± standard error over seeds, all sides on one scale.`, "aside"));
  };

  for (const one of boxes) one.addEventListener("change", show);
  byId("c-metric").addEventListener("change", draw);
  byId("c-view").hidden = false;
  show();
})();
