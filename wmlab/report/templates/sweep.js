// Points of a sweep and checkpoints of trainings: a metric over two axes, the others at a label of theirs, at any
// checkpoint; and the curve of a point that one chooses. All numbers are stored ones; nothing is computed.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("sweep-data").textContent);
  const byId = (id) => document.getElementById(id);
  const {axes, metrics} = data;
  const now = {metric: 0, across: 0, down: 1, at: axes.map(() => 0), step: Infinity, point: null};
  if (axes.length < 2) now.down = -1;
  if (axes.length < 1) now.across = -1;

  // --- numbers and elements ---
  const number = (value) => {
    if (value === undefined || value === null || Number.isNaN(value)) return "–";
    if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value).replace("-", "−");
    const size = Math.abs(value);
    return (size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(4))) : value.toExponential(2)).replace(/-/g, "−");
  };
  const inDigits = (mean, error) => { // two digits of the error, and the mean to the same place: 0.140 ± 0.027
    if (!Number.isFinite(error)) return [number(mean), ""];
    const places = error > 0 ? Math.max(0, 1 - Math.floor(Math.log10(error))) : Infinity;
    if (places > 6 || Math.abs(mean) >= 1e5) return [number(mean), number(error)];
    return [mean.toFixed(places).replace("-", "−"), error.toFixed(places)];
  };
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
  const head = (text, scope) => {
    const made = element("th", text);
    made.scope = scope;
    return made;
  };
  const cell = (value) => {
    const made = element("td", number(value), "number");
    made.dataset.value = String(value);
    return made;
  };

  // --- what was found ---
  const key = (where) => where.join(",");
  const found = metrics.map(({at}) => new Map(at.map((entry) => [key(entry.where), entry])));
  const holes = new Map(data.holes.map(({where, why}) => [key(where), why]));
  const checkpoints = (metric) => Math.max(0, ...metrics[metric].at.map(({curve}) => (curve ? curve.mean.length : 0)));
  now.metric = Math.max(0, metrics.findIndex((_, metric) => checkpoints(metric))); // its slider moves
  const whereAt = (i, j) => now.at.map((label, axis) => (axis === now.across ? i : axis === now.down ? j : label));
  const last = () => now.step >= checkpoints(now.metric);
  const read = (metric, where) => { // a metric at a point, and at the chosen checkpoint where it was followed
    const entry = found[metric].get(key(where));
    if (!entry || now.step >= checkpoints(metric)) return entry;
    const {curve} = entry;
    if (!curve || now.step >= curve.mean.length) return undefined;
    return {mean: curve.mean[now.step], error: curve.error && curve.error[now.step], n: curve.n && curve.n[now.step], values: curve.values && curve.values.map((row) => row && row[now.step])};
  };
  const placeOf = (where) => axes.map((axis, place) => `${axis.name} = ${axis.labels[where[place]]}`).join(", ");
  const labels = (axis) => (axis < 0 ? [""] : axes[axis].labels);

  // --- colours ---
  const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const colour = (part) => {
    const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    return stops[low].map((value, i) => Math.round(value + (at - low) * (stops[low + 1][i] - value)));
  };
  const ink = (rgb) => { // whichever of black and white stands out more
    const [r, g, b] = rgb.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? "#000" : "#fff";
  };
  let asked = null; // powers of ten or not, where a person chose; else as figures have it for that metric
  const inPowers = (list) => (asked === null ? metrics[now.metric].powers : asked) && list.some((value) => value > 0);
  const scaleOf = (list) => {
    const powers = inPowers(list);
    const known = list.filter((value) => Number.isFinite(value) && (!powers || value > 0));
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const bend = powers ? Math.log : (value) => value;
    return {low, high, powers, part: (value) => (high > low ? (bend(value) - bend(low)) / (bend(high) - bend(low)) : 0.5)};
  };

  // --- the table: a metric over two axes ---
  const button = (where, entry, scale) => {
    const made = element("button");
    made.type = "button";
    made.dataset.where = key(where);
    made.dataset.value = String(entry.mean);
    const [mean, error] = inDigits(entry.mean, entry.n > 1 ? entry.error : undefined);
    made.append(element("span", mean));
    if (error) made.append(element("small", `± ${error}`));
    const part = scale.part(entry.mean);
    if (Number.isFinite(part)) {
      const fill = colour(part);
      made.style.backgroundColor = `rgb(${fill.join(",")})`;
      made.style.color = ink(fill);
    }
    made.setAttribute("aria-label", `${placeOf(where) || metrics[now.metric].name}: ${made.textContent.replace("±", " ± ")}`);
    made.setAttribute("aria-pressed", String(now.point === made.dataset.where));
    made.addEventListener("click", () => choosePoint(where));
    return made;
  };
  const drawTable = () => {
    const [columns, rows] = [labels(now.across), labels(now.down)];
    const entries = rows.map((_, j) => columns.map((__, i) => read(now.metric, whereAt(i, j))));
    const scale = scaleOf(entries.flat().map((entry) => (entry ? entry.mean : NaN)));
    const body = element("tbody");
    entries.forEach((line, j) => {
      const row = element("tr");
      if (now.down >= 0) row.append(head(rows[j], "row"));
      line.forEach((entry, i) => {
        const where = whereAt(i, j);
        const place = element("td");
        if (entry && Number.isFinite(entry.mean)) place.append(button(where, entry, scale));
        else place.append(element("span", holes.get(key(where)) || "no value", "aside"));
        row.append(place);
      });
      body.append(row);
    });
    const top = element("thead");
    if (now.across >= 0) {
      const line = element("tr");
      if (now.down >= 0) line.append(head(`${axes[now.down].name} ↓  ${axes[now.across].name} →`, "col"));
      line.append(...columns.map((label) => head(now.down >= 0 ? label : `${axes[now.across].name} = ${label}`, "col")));
      top.append(line);
    }
    byId("s-name").textContent = [metrics[now.metric].name, stepWords()].filter(Boolean).join(", ");
    byId("s-table").replaceChildren(byId("s-name"), top, body);
    byId("s-least").textContent = Number.isFinite(scale.low) ? number(scale.low) : "";
    byId("s-most").textContent = Number.isFinite(scale.high) ? number(scale.high) : "";
    const {name, about} = metrics[now.metric];
    const held = axes.filter((_, axis) => axis !== now.across && axis !== now.down).map((axis) => `${axis.name} = ${axis.labels[now.at[axes.indexOf(axis)]]}`);
    const sentence = [`${name}${about ? `: ${about}` : ""}`, ...held, stepWords()].filter(Boolean).join("; ");
    byId("s-caption").textContent = `${sentence}. Mean${data.seeds.length > 1 ? " ± standard error over seeds" : ", one seed"}${scale.powers ? "; colours by powers of ten" : ""}.`;
  };
  const stepWords = () => {
    const count = checkpoints(now.metric);
    if (!count) return "";
    if (last()) return "at the end of training";
    const steps = new Set(metrics[now.metric].at.map((entry) => (entry.steps ? entry.steps[now.step] : undefined)));
    const [one] = steps;
    return `checkpoint ${now.step + 1} of ${count}${steps.size === 1 && one !== undefined ? `, ${number(one)} steps` : ""}`;
  };

  // --- one point: its curve, its seeds, and its other metrics ---
  const WIDE = 640;
  const HIGH = 250;
  const box = {left: 64, right: 12, top: 12, bottom: 38};
  const drawCurve = (entry) => {
    const {curve} = entry;
    const xs = curve ? entry.steps || curve.mean.map((_, t) => t + 1) : entry.values.map((_, place) => place);
    const seeds = (curve ? curve.values : entry.values.map((value, place) => entry.values.map((_, other) => (other === place ? value : null)))) || [];
    const means = curve ? curve.mean : [];
    const errors = (curve && curve.error) || [];
    const ends = means.flatMap((mean, t) => (Number.isFinite(errors[t]) ? [mean - errors[t], mean + errors[t]] : [mean]));
    const scale = scaleOf([...ends, ...seeds.flatMap((row) => row || [])].filter(Number.isFinite));
    const x = (place) => box.left + ((WIDE - box.left - box.right) * (xs.length > 1 ? (xs[place] - xs[0]) / (xs[xs.length - 1] - xs[0]) : 0.5));
    const y = (value) => HIGH - box.bottom - (HIGH - box.top - box.bottom) * Math.min(1, Math.max(0, scale.part(value)));
    const known = (value) => Number.isFinite(value) && (!scale.powers || value > 0);
    const path = (list) => {
      let [text, open] = ["", false];
      list.forEach((value, t) => {
        if (known(value)) text += `${open ? "L" : "M"}${x(t).toFixed(1)},${y(value).toFixed(1)}`;
        open = known(value);
      });
      return text;
    };
    const name = metrics[now.metric].name;
    const chart = svg("svg", {viewBox: `0 0 ${WIDE} ${HIGH}`, "class": "curve", role: "img", "aria-label": `${name} over ${curve ? "training" : "seeds"}; the table says the same`});
    chart.append(svg("path", {"class": "axis", d: `M${box.left},${box.top}V${HIGH - box.bottom}H${WIDE - box.right}`}));
    const words = [[box.left - 6, box.top + 8, number(scale.high), "end"], [box.left - 6, HIGH - box.bottom, number(scale.low), "end"], [box.left, HIGH - box.bottom + 16, curve ? number(xs[0]) : data.seeds[0], "start"], [WIDE - box.right, HIGH - box.bottom + 16, curve ? number(xs[xs.length - 1]) : data.seeds[data.seeds.length - 1], "end"], [(box.left + WIDE - box.right) / 2, HIGH - 6, curve ? (entry.steps ? "environment steps" : "checkpoint") : "seed", "middle"]];
    for (const [px, py, text, anchor] of words) chart.append(svg("text", {x: px, y: py, "text-anchor": anchor}, text));
    if (curve) {
      const low = means.map((mean, t) => mean - (errors[t] || 0));
      const high = means.map((mean, t) => mean + (errors[t] || 0));
      const band = [...means.keys()].filter((t) => known(low[t]) && known(high[t]));
      if (band.length > 1) chart.append(svg("path", {"class": "band", d: `M${band.map((t) => `${x(t).toFixed(1)},${y(high[t]).toFixed(1)}`).join("L")}L${[...band].reverse().map((t) => `${x(t).toFixed(1)},${y(low[t]).toFixed(1)}`).join("L")}Z`}));
      for (const row of seeds) if (row && seeds.length > 1) chart.append(svg("path", {"class": "seed", d: path(row)}));
      chart.append(svg("path", {"class": "mean", d: path(means)}));
      if (!last() && now.step < means.length) chart.append(svg("path", {"class": "now", d: `M${x(now.step).toFixed(1)},${box.top}V${HIGH - box.bottom}`}));
    }
    (curve ? means : entry.values).forEach((value, t) => {
      if (!known(value)) return;
      const dot = svg("circle", {cx: x(t).toFixed(1), cy: y(value).toFixed(1), r: 3.2, "data-value": value});
      dot.append(svg("title", {}, `${curve ? `${number(xs[t])}: ` : `seed ${data.seeds[t]}: `}${number(value)}`));
      chart.append(dot);
    });
    return chart;
  };
  const drawPoint = () => {
    const region = byId("s-point");
    const where = now.point === null ? null : now.point.split(",").filter(Boolean).map(Number);
    const entry = where && found[now.metric].get(key(where));
    if (!entry) {
      region.replaceChildren(element("p", where ? `${metrics[now.metric].name} has no value at ${placeOf(where)}.` : "No point is chosen yet.", "aside"));
      return;
    }
    const title = element("h3", [metrics[now.metric].name, placeOf(where)].filter(Boolean).join(" at "));
    const table = element("table");
    const seeds = entry.values && entry.values.length > 1 ? data.seeds : [];
    table.append(element("caption", "All metrics at this point: a checkpoint’s, where a metric was followed, else those of the end."));
    const line = element("tr");
    line.append(head("Metric", "col"), ...["Mean", "±", "n", ...seeds.map((seed) => `seed ${seed}`)].map((text) => Object.assign(head(text, "col"), {className: "number"})));
    const top = element("thead");
    top.append(line);
    const body = element("tbody");
    metrics.forEach(({name}, place) => {
      const one = read(place, where);
      if (!one) return;
      const row = element("tr");
      row.dataset.metric = name;
      row.append(head(name, "row"), cell(one.mean), cell(one.n > 1 ? one.error : undefined), cell(one.n), ...seeds.map((_, s) => cell(one.values ? one.values[s] : undefined)));
      body.append(row);
    });
    table.append(top, body);
    const scroll = element("div", undefined, "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "All metrics at this point");
    scroll.append(table);
    const more = element("details");
    more.open = Boolean(region.querySelector("details[open]"));
    more.append(element("summary", "All metrics at this point"), scroll);
    region.replaceChildren(title, drawCurve(entry), more);
  };
  const choosePoint = (where) => {
    now.point = key(where);
    const focused = now.point;
    draw();
    const region = byId("s-point");
    region.scrollIntoView({block: "nearest"});
    region.focus({preventScroll: true});
    region.dataset.where = focused;
  };

  // --- all of it, and the controls ---
  const draw = () => {
    const count = checkpoints(now.metric);
    const slider = byId("s-step");
    slider.max = String(count);
    slider.value = String(Math.min(now.step, count));
    slider.disabled = !count;
    byId("s-at").textContent = count ? stepWords() : "followed at the end alone";
    slider.setAttribute("aria-valuetext", byId("s-at").textContent);
    const held = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.where : undefined;
    byId("s-powers").checked = asked === null ? metrics[now.metric].powers : asked;
    drawTable();
    drawPoint();
    if (held !== undefined && document.activeElement === document.body) { // redrawn under the keyboard's focus
      const again = Array.from(byId("s-table").querySelectorAll("button")).find((one) => one.dataset.where === held);
      if (again) again.focus({preventScroll: true});
    }
  };
  const fill = (id, entries) => byId(id).append(...entries.map(([value, text]) => Object.assign(element("option", text), {value: String(value)})));
  fill("s-metric", metrics.map(({name}, place) => [place, name]));
  byId("s-metric").value = String(now.metric);
  fill("s-across", axes.map((axis, place) => [place, axis.name]));
  fill("s-down", [[-1, "nothing"], ...axes.map((axis, place) => [place, axis.name])]);
  const others = axes.map((axis, place) => {
    const line = element("p");
    const label = element("label", axis.name);
    label.htmlFor = `s-axis-${place}`;
    const select = element("select");
    select.id = label.htmlFor;
    select.append(...axis.labels.map((text, at) => Object.assign(element("option", text), {value: String(at)})));
    select.addEventListener("change", () => { now.at[place] = Number(select.value); draw(); });
    line.append(label, select);
    byId("s-others").append(line);
    return line;
  });
  const arrange = () => {
    byId("s-across").value = String(now.across);
    byId("s-down").value = String(now.down);
    others.forEach((line, place) => { line.hidden = place === now.across || place === now.down; });
    byId("s-others").hidden = others.every((line) => line.hidden);
    draw();
  };
  const onChange = (id, act) => byId(id).addEventListener("change", (event) => act(Number(event.target.value)));
  onChange("s-metric", (value) => { [now.metric, asked] = [value, null]; draw(); });
  onChange("s-across", (value) => { [now.across, now.down] = [value, value === now.down ? now.across : now.down]; arrange(); });
  onChange("s-down", (value) => { [now.across, now.down] = [value === now.across ? (now.down >= 0 ? now.down : axes.findIndex((_, place) => place !== value)) : now.across, value]; arrange(); });
  byId("s-powers").addEventListener("change", (event) => { asked = event.target.checked; draw(); });
  byId("s-step").addEventListener("input", (event) => {
    const value = Number(event.target.value);
    now.step = value >= checkpoints(now.metric) ? Infinity : value;
    draw();
  });
  byId("s-across").parentElement.hidden = byId("s-down").parentElement.hidden = axes.length < 2;
  byId("s-steps").hidden = metrics.every((_, place) => !checkpoints(place));
  byId("s-view").hidden = false;
  if (axes.every((axis) => axis.labels.length < 2)) now.point = key(now.at);
  arrange();
})();
