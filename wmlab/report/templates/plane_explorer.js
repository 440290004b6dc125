// The explorer of a continuous world: truth, model and difference over two variables, the others at a slider's place.
// Numbers are those of the stored arrays, to three digits; nothing is computed but sums, differences and sizes of them.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const byId = (id) => document.getElementById(id);

  // --- stored arrays ---
  const half = (bits) => {
    const sign = bits & 0x8000 ? -1 : 1;
    const power = (bits >> 10) & 0x1f;
    const rest = bits & 0x3ff;
    if (power === 0) return sign * rest * 2 ** -24;
    if (power === 31) return rest ? NaN : sign * Infinity;
    return sign * (1024 + rest) * 2 ** (power - 25);
  };
  const unpack = (packed) => {
    const bytes = Uint8Array.from(atob(packed.bytes), (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    if (packed.type === "|u1") return {shape: packed.shape, at: bytes};
    if (packed.type === "<i4") return {shape: packed.shape, at: Array.from({length: bytes.length / 4}, (_, i) => view.getInt32(4 * i, true))};
    return {shape: packed.shape, at: Float64Array.from({length: bytes.length / 2}, (_, i) => packed.unit * half(view.getUint16(2 * i, true)))};
  };
  const arrays = {};
  for (const [name, packed] of Object.entries(data.arrays)) arrays[name] = unpack(packed);
  const has = (name) => Object.prototype.hasOwnProperty.call(arrays, name);
  const axes = data.axes;
  const [actions, variables] = [data.actions.length, data.variables.length];
  const points = axes.reduce((product, axis) => product * axis.size, 1);
  const stride = axes.map((_, place) => axes.slice(place + 1).reduce((product, axis) => product * axis.size, 1));
  const now = {show: "", goal: 0, action: actions - 1, x: 0, y: 1, at: axes.map((axis) => (axis.size - 1) >> 1), here: null, start: null, step: 0};

  // --- numbers and elements ---
  const number = (value) => {
    if (value === undefined || Number.isNaN(value)) return "–";
    if (Number.isInteger(value)) return String(value).replace("-", "−");
    const size = Math.abs(value);
    return (size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(3))) : value.toExponential(2)).replace(/-/g, "−");
  };
  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const svg = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    return made;
  };
  const option = (value, text) => {
    const made = element("option", text);
    made.value = value;
    return made;
  };

  // --- quantities: what is shown of the truth, of the model, and of the two together ---
  const byGoal = (name) => (p) => arrays[name].at[now.goal * points + p];
  const byPair = (name) => (p) => arrays[name].at[(now.goal * actions + now.action) * points + p];
  const move = (name, k) => (p) => arrays[name].at[(now.action * variables + k) * points + p];
  const modelMove = (k) => (has("move/model") ? move("move/model", k) : (p) => move("move/truth", k)(p) + move("move/error", k)(p));
  const size = (parts) => (p) => {
    let [sum, count] = [0, 0];
    for (let k = 0; k < variables; k += 1) {
      const usual = arrays.usual.at[k];
      if (usual > 0) [sum, count] = [sum + (parts(k)(p) / usual) ** 2, count + 1];
    }
    return count ? Math.sqrt(sum / count) : NaN;
  };
  const minus = (left, right) => (p) => left(p) - right(p);
  const shows = new Map();
  const best = data.greedy ? "best values there are" : "exact values of a uniform policy";
  const add = (key, text, sides, more) => shows.set(key, {text, sides, ...more});
  const values = (key, text, read) => {
    const sides = {model: {title: "the agent’s values", read: read(key)}};
    if (has(`exact/${key}`)) {
      sides.truth = {title: best, read: read(`exact/${key}`)};
      sides.difference = {title: "the agent’s less the exact", read: minus(read(key), read(`exact/${key}`))};
    }
    add(key, text, sides, {goal: true, action: key === "q"});
  };
  const modelled = has("move/model") || has("move/error");
  const moves = (key, text, truth, model, error, more) => {
    const sides = {};
    if (has("move/truth")) sides.truth = {title: "in the world", read: truth};
    if (modelled) sides.model = {title: "in the model", read: model};
    if (has("move/error")) sides.difference = {title: "the model’s less the world’s", read: error};
    if (Object.keys(sides).length) add(key, text, sides, {action: true, ...more});
  };
  data.variables.forEach((name, k) => moves(`move/${k}`, `displacement of ${name}`, move("move/truth", k), modelMove(k), move("move/error", k)));
  moves("size", "size of the displacement, and of its error", size((k) => move("move/truth", k)), size(modelMove), size((k) => move("move/error", k)), {positive: true, unit: "in units of how much displacements differ, root mean square over variables"});
  if (shows.has("size") && shows.get("size").sides.difference) shows.get("size").sides.difference.title = "of the error";
  values("v", "V, value of a state", byGoal);
  values("q", "Q, value of a state and the action", byPair);
  const left = {};
  if (has("td/truth")) left.truth = {title: "in the world", read: byPair("td/truth")};
  if (has("td/model")) left.model = {title: "in the model", read: byPair("td/model")};
  if (left.truth && left.model) left.difference = {title: "the model’s less the world’s", read: minus(left.model.read, left.truth.read)};
  if (Object.keys(left).length) add("td", "TD error: Q less r + γV of the next state", left, {goal: true, action: true});
  if (has("visits")) add("visits", "where the agent has been, whatever the other variables were", {visits: {title: "share of its steps"}}, {powers: true});
  now.show = shows.has("size") ? "move/0" : "v";

  // --- places ---
  const chosen = () => [axes[now.x], axes[now.y]];
  const indexAt = (i, j) => {
    let place = 0;
    for (let axis = 0; axis < axes.length; axis += 1) place += stride[axis] * (axis === now.x ? i : axis === now.y ? j : now.at[axis]);
    return place;
  };
  const middle = (axis, i, along = axis.size) => axis.low + ((i + 0.5) / along) * (axis.high - axis.low);
  const share = (axis, value) => (100 * (value - axis.low)) / (axis.high - axis.low);
  const visits = (i, j) => {
    const {shape, at} = arrays.visits;
    const steps = shape.map((_, place) => shape.slice(place + 1).reduce((product, one) => product * one, 1));
    let total = 0;
    for (let place = 0; place < at.length; place += 1) {
      if (Math.floor(place / steps[now.x]) % shape[now.x] === i && Math.floor(place / steps[now.y]) % shape[now.y] === j) total += at[place];
    }
    return total;
  };
  const sizeOf = (side) => (side === "visits" ? [arrays.visits.shape[now.x], arrays.visits.shape[now.y]] : chosen().map((axis) => axis.size));
  const planeOf = (side, read) => {
    const [across, up] = sizeOf(side);
    return Array.from({length: across * up}, (_, place) => {
      const [i, j] = [place % across, Math.floor(place / across)];
      return side === "visits" ? visits(i, j) : read(indexAt(i, j));
    });
  };

  // --- scales: chosen so that truth and model can both be read ---
  const ends = (list) => {
    const known = list.filter(Number.isFinite).sort((a, b) => a - b);
    if (!known.length) return [NaN, NaN];
    const at = (part) => known[Math.round(part * (known.length - 1))];
    const [low, high] = [at(0.02), at(0.98)];
    return high > low ? [low, high] : [known[0], known[known.length - 1]];
  };
  const linear = (low, high, signed) => ({low, high, signed, part: (value) => (high > low ? (value - low) / (high - low) : 0.5), value: (part) => low + part * (high - low)});
  const bent = (low, high, centre, width, signed) => { // even steps near the narrower of two, wide ones beyond
    const bend = (value) => Math.asinh((value - centre) / width);
    const [from, to] = [bend(low), bend(high)];
    return {low, high, signed, bent: true, part: (value) => (bend(value) - from) / (to - from), value: (part) => centre + width * Math.sinh(from + part * (to - from))};
  };
  const powers = (list) => {
    const known = list.filter((value) => value > 0);
    const [low, high] = [Math.min(...known), Math.max(...known)];
    return {low, high, part: (value) => (value > 0 ? (high > low ? Math.log(value / low) / Math.log(high / low) : 0.5) : NaN), value: (part) => low * (high / low) ** part};
  };
  const common = (lists, positive) => {
    const spans = lists.map(ends).filter(([low]) => Number.isFinite(low));
    if (!spans.length) return linear(0, 1);
    let low = Math.min(...spans.map((span) => span[0]));
    let high = Math.max(...spans.map((span) => span[1]));
    const signed = !positive && low < 0 && high > 0 && Math.min(-low, high) > 0.1 * Math.max(-low, high);
    if (signed) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
    const widths = spans.map((span) => span[1] - span[0]);
    const narrow = widths.indexOf(Math.min(...widths));
    const width = Math.max(widths[narrow], (high - low) / 1000);
    if (spans.length > 1 && high - low > 8 * width) return bent(low, high, signed ? 0 : (spans[narrow][0] + spans[narrow][1]) / 2, width, signed);
    return linear(low, high, signed);
  };
  const everywhere = (read) => Array.from({length: points}, (_, p) => read(p));
  const scalesOf = (shown, planes) => {
    if (shown.powers) return {visits: powers(planes.visits)};
    const wide = byId("x-scale").value === "all";
    const lists = {};
    for (const [side, {read}] of Object.entries(shown.sides)) lists[side] = wide ? everywhere(read) : planes[side];
    const shared = common(["truth", "model"].filter((side) => lists[side]).map((side) => lists[side]), shown.positive);
    const scales = {truth: shared, model: shared};
    if (lists.difference) {
      const most = byId("x-apart").value === "same" ? (shared.high - shared.low) / 2 : Math.max(...ends(lists.difference).map(Math.abs));
      scales.difference = shown.positive ? (byId("x-apart").value === "same" ? shared : linear(0, most)) : linear(-most, most, true);
    }
    return scales;
  };

  // --- colours: dark to light in equal steps of lightness; blue to vermilion through white for less and more ---
  const ramps = {
    plain: [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]],
    signed: [[0, 68, 107], [0, 114, 178], [156, 201, 227], [247, 247, 245], [240, 180, 138], [213, 94, 0], [122, 53, 0]],
  };
  const colour = (part, signed) => {
    const stops = signed ? ramps.signed : ramps.plain;
    const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    return stops[low].map((value, i) => Math.round(value + (at - low) * (stops[low + 1][i] - value)));
  };

  // --- panels ---
  const panels = new Map();
  const panelOf = (side) => {
    const figure = element("figure");
    const title = element("figcaption");
    const canvas = element("canvas");
    canvas.setAttribute("aria-hidden", "true");
    const over = svg("svg", {viewBox: "0 0 100 100", tabindex: 0, role: "application"});
    const marks = svg("path", {"class": "ends"});
    const [arrows, ways, front] = ["arrows", "ways", "front"].map((name) => svg("g", {"class": name}));
    over.append(marks, arrows, ways, front);
    const [upper, name, lower] = [element("span"), element("span", "", "name"), element("span")];
    const upright = element("div", undefined, "upright");
    upright.append(upper, name, lower);
    const plane = element("div", undefined, "plane");
    plane.append(canvas, over);
    const flat = [element("span"), element("span", "", "name"), element("span")];
    const along = element("div", undefined, "along");
    along.append(...flat);
    const [least, mid, most] = [element("span"), element("span"), element("span")];
    const ramp = element("span", undefined, "ramp");
    ramp.setAttribute("aria-hidden", "true");
    const bar = element("div", undefined, "bar");
    const under = element("div", undefined, "marks");
    under.append(least, mid, most);
    bar.append(ramp, under);
    figure.append(title, upright, plane, along, bar);
    listen(over, side);
    return {figure, title, canvas, over, marks, arrows, ways, front, upright: [upper, name, lower], flat, least, mid, most, ramp};
  };
  const paint = (panel, side, list, scale) => {
    const [across, up] = sizeOf(side);
    panel.canvas.width = across;
    panel.canvas.height = up;
    const image = new ImageData(across, up);
    list.forEach((value, place) => {
      const part = Number.isFinite(value) ? scale.part(value) : NaN;
      if (!Number.isFinite(part)) return; // left open
      const at = 4 * ((up - 1 - Math.floor(place / across)) * across + (place % across));
      image.data.set([...colour(part, scale.signed), 255], at);
    });
    panel.canvas.getContext("2d").putImageData(image, 0, 0);
    panel.ramp.classList.toggle("signed", Boolean(scale.signed));
    panel.least.textContent = number(scale.low);
    panel.mid.textContent = scale.high > scale.low ? number(scale.value(0.5)) : "";
    panel.most.textContent = number(scale.high);
    const [x, y] = chosen();
    panel.flat.forEach((span, place) => { span.textContent = [number(x.low), x.name, number(x.high)][place]; });
    panel.upright.forEach((span, place) => { span.textContent = [number(y.high), y.name, number(y.low)][place]; });
  };

  // --- what lies upon them ---
  const drawEnds = (panel, side) => {
    let path = "";
    if (has("ends")) {
      const [x, y] = chosen();
      const [w, h] = [100 / x.size, 100 / y.size];
      for (let i = 0; i < x.size; i += 1) for (let j = 0; j < y.size; j += 1) {
        if (arrays.ends.at[now.goal * points + indexAt(i, j)]) path += `M${i * w},${100 - j * h}l${w},${-h}`;
      }
    }
    panel.marks.setAttribute("d", path);
  };
  const vector = (side) => {
    const [x, y] = chosen();
    const read = (k) => (side === "truth" ? move("move/truth", k) : side === "model" ? modelMove(k) : move("move/error", k));
    return (p) => [(100 * read(x.column)(p)) / (x.high - x.low), (100 * read(y.column)(p)) / (y.high - y.low)];
  };
  const drawArrows = (panel, side) => {
    panel.arrows.replaceChildren();
    const drawable = {truth: has("move/truth"), model: modelled, difference: has("move/error")}[side];
    if (!byId("x-arrows").checked || !drawable) return;
    const [x, y] = chosen();
    const picks = (axis) => {
      const count = Math.min(axis.size, 13);
      return Array.from({length: count}, (_, i) => Math.floor(((i + 0.5) * axis.size) / count));
    };
    const [columns, rows] = [picks(x), picks(y)];
    const long = (read) => columns.flatMap((i) => rows.map((j) => Math.hypot(...read(indexAt(i, j))))).filter(Number.isFinite).sort((a, b) => a - b);
    const lengths = long(vector(has("move/truth") ? "truth" : "model"));
    const usual = lengths[Math.floor(0.95 * (lengths.length - 1))];
    const longer = usual > 0 ? 92 / Math.max(columns.length, rows.length) / usual : 1;
    const read = vector(side);
    const most = 160 / Math.max(columns.length, rows.length);
    let path = "";
    for (const i of columns) for (const j of rows) {
      const whole = read(indexAt(i, j)).map((part) => part * longer);
      const [u, v] = whole.map((part) => part * Math.min(1, most / Math.hypot(...whole)));
      const length = Math.hypot(u, v);
      if (!(length > 0.3)) continue;
      const [px, py] = [(100 * (i + 0.5)) / x.size, 100 - (100 * (j + 0.5)) / y.size];
      const [tx, ty] = [px + u, py - v];
      const head = Math.min(2.2, length / 2) / length;
      path += `M${px.toFixed(2)},${py.toFixed(2)}L${tx.toFixed(2)},${ty.toFixed(2)}`;
      for (const turn of [0.5, -0.5]) path += `M${tx.toFixed(2)},${ty.toFixed(2)}l${(head * (-u - turn * v)).toFixed(2)},${(head * (v - turn * u)).toFixed(2)}`;
    }
    panel.arrows.append(svg("path", {"class": "halo", d: path}), svg("path", {d: path}));
  };
  const knots = (side) => {
    const [, starts, count] = arrays[`way/${side}`].shape;
    const first = (now.goal * starts + now.start) * count * axes.length;
    return Array.from({length: count}, (_, t) => [now.x, now.y].map((axis) => arrays[`way/${side}`].at[first + t * axes.length + axis]));
  };
  const place = ([u, v]) => [share(axes[now.x], u), 100 - share(axes[now.y], v)];
  const drawWays = (panel) => {
    panel.ways.replaceChildren();
    if (now.start === null) return;
    for (const [side, name] of [["truth", "world"], ["model", "model"]]) {
      if (!has(`way/${side}`)) continue;
      const way = knots(side);
      let path = "";
      way.forEach((knot, t) => {
        const jump = t && [now.x, now.y].some((axis, k) => axes[axis].periodic && Math.abs(knot[k] - way[t - 1][k]) > (axes[axis].high - axes[axis].low) / 2);
        path += `${t && !jump ? "L" : "M"}${place(knot).map((one) => one.toFixed(2)).join(",")}`;
      });
      panel.ways.append(svg("path", {"class": "halo", d: path}), svg("path", {"class": name, d: path}));
      const [cx, cy] = place(way[Math.min(now.step, way.length - 1)]);
      panel.ways.append(svg("circle", {"class": name, cx, cy, r: 1.8}));
    }
    const [x, y] = place(knots(has("way/truth") ? "truth" : "model")[0]);
    panel.ways.append(svg("rect", {"class": "start", x: x - 1.5, y: y - 1.5, width: 3, height: 3}));
  };
  const drawHere = (panel, side) => {
    panel.front.replaceChildren();
    if (!now.here) return;
    const [across, up] = sizeOf(side);
    const [x, y] = chosen();
    const [i, j] = [Math.floor(((now.here[0] + 0.5) * across) / x.size), Math.floor(((now.here[1] + 0.5) * up) / y.size)];
    panel.front.append(svg("rect", {"class": "here", x: (100 * i) / across, y: 100 - (100 * (j + 1)) / up, width: 100 / across, height: 100 / up}));
  };

  // --- in words and numbers ---
  const tell = (shown) => {
    const facts = byId("x-facts");
    if (!now.here) {
      facts.replaceChildren(element("p", "No place is chosen yet.", "aside"));
      return;
    }
    const [i, j] = now.here;
    const p = indexAt(i, j);
    const table = element("table");
    const where = axes.map((axis, place) => `${axis.name} = ${number(middle(axis, place === now.x ? i : place === now.y ? j : now.at[place]))}`).join(", ");
    table.append(element("caption", `At ${where}.`));
    const body = element("tbody");
    for (const [side, {title, read}] of Object.entries(ordered(shown))) {
      const [across, up] = sizeOf(side);
      const [x, y] = chosen();
      const value = read ? read(p) : visits(Math.floor(((i + 0.5) * across) / x.size), Math.floor(((j + 0.5) * up) / y.size));
      const line = element("tr");
      const head = element("th", title);
      head.scope = "row";
      const cell = element("td", number(value), "number");
      cell.dataset.side = side;
      cell.dataset.value = String(value);
      line.append(head, cell);
      body.append(line);
    }
    table.append(body);
    facts.replaceChildren(table);
  };
  const tellWays = () => {
    const known = now.start !== null;
    for (const id of ["x-steps", "x-key"]) byId(id).hidden = !known;
    if (!known) {
      byId("x-told").textContent = has("starts") && (has("way/truth") || has("way/model")) ? "No start is chosen yet." : "";
      return;
    }
    const count = arrays.starts.shape[0];
    const from = axes.map((axis) => `${axis.name} = ${number(arrays.starts.at[now.start * variables + axis.column])}`).join(", ");
    const most = arrays.horizon.at[0];
    const ended = [["truth", "in the world"], ["model", "in the model"]].filter(([side]) => has(`way/${side}`)).map(([side, words]) => {
      const steps = arrays[`steps/${side}`].at[now.goal * count + now.start];
      return `${words} ${steps < most ? `the episode is over after ${steps} step${steps === 1 ? "" : "s"}` : `it is not over within ${most} steps`}`;
    });
    byId("x-told").textContent = `The agent sets out from ${from}, for ${data.goals[now.goal]}: ${ended.join("; ")}.`;
    const side = has("way/truth") ? "truth" : "model";
    byId("x-step").max = String(arrays[`way/${side}`].shape[2] - 1);
    byId("x-step").value = String(now.step);
    byId("x-count").textContent = `step ${Math.min(now.step * arrays.steps_between.at[0], most)}`;
  };
  const ordered = (shown) => Object.fromEntries(["truth", "model", "difference", "visits"].filter((side) => shown.sides[side]).map((side) => [side, shown.sides[side]]));

  // --- all of it ---
  const draw = () => {
    const shown = shows.get(now.show);
    const sides = ordered(shown);
    const planes = {};
    for (const [side, {read}] of Object.entries(sides)) planes[side] = planeOf(side, read);
    const scales = scalesOf(shown, planes);
    for (const side of Object.keys(sides)) if (!panels.has(side)) panels.set(side, panelOf(side));
    const wanted = Object.keys(sides).map((side) => panels.get(side).figure);
    const there = Array.from(byId("x-panels").children);
    if (there.length !== wanted.length || there.some((one, i) => one !== wanted[i])) byId("x-panels").replaceChildren(...wanted);
    let beyond = 0;
    for (const [side, {title}] of Object.entries(sides)) {
      const panel = panels.get(side);
      panel.title.textContent = title;
      panel.over.setAttribute("aria-label", `${shown.text}, ${title}; arrow keys move, Enter sets out`);
      paint(panel, side, planes[side], scales[side]);
      const slack = 1e-9 * (scales[side].high - scales[side].low);
      beyond += planes[side].filter((value) => value > scales[side].high + slack || value < scales[side].low - slack).length;
      drawEnds(panel, side);
      drawArrows(panel, side);
    }
    const about = [`${shown.text[0].toUpperCase()}${shown.text.slice(1)}${shown.unit ? `, ${shown.unit}` : ""}`];
    if (shown.goal) about.push(`goal ${data.goals[now.goal]}`);
    if (shown.action) about.push(`action ${data.actions[now.action]}`);
    const told = [`${about.join("; ")}.`];
    const bend = scales.truth && scales.truth.bent;
    if (sides.truth && sides.model) told.push(`Truth and model share their colours${bend ? ", in steps that widen away from the narrower of the two" : ""}.`);
    if (beyond) told.push(`${beyond} place${beyond === 1 ? " lies" : "s lie"} beyond the colours and take${beyond === 1 ? "s" : ""} the last.`);
    if (has("ends") && panels.get(Object.keys(sides)[0]).marks.getAttribute("d")) told.push(`Where ${shown.goal ? "the goal" : `goal ${data.goals[now.goal]}`} ends an episode is hatched.`);
    if (byId("x-arrows").checked && !shown.powers) told.push(`Arrows: where ${data.actions[now.action]} leads, all longer by one factor; very long ones are cut short.`);
    byId("x-caption").textContent = told.join(" ");
    byId("x-action").disabled = !shown.action && !byId("x-arrows").checked;
    byId("x-apart").disabled = !sides.difference;
    upon();
  };
  const upon = () => { // the quick part: where one is and what sets out from there
    const shown = shows.get(now.show);
    for (const side of Object.keys(ordered(shown))) {
      drawWays(panels.get(side));
      drawHere(panels.get(side), side);
    }
    tell(shown);
    tellWays();
  };

  // --- mouse and keyboard upon a panel ---
  const setOut = () => {
    if (!now.here || !has("starts") || !(has("way/truth") || has("way/model"))) return;
    now.start = 0;
    axes.forEach((axis, place) => {
      const i = place === now.x ? now.here[0] : place === now.y ? now.here[1] : now.at[place];
      now.start = now.start * axis.starts + Math.floor(((i + 0.5) / axis.size) * axis.starts);
    });
    now.step = 0;
    upon();
  };
  const under = (over, event) => {
    const box = over.getBoundingClientRect();
    const inside = (part, count) => Math.min(Math.max(Math.floor(part * count), 0), count - 1);
    const [x, y] = chosen();
    return [inside((event.clientX - box.left) / box.width, x.size), inside(1 - (event.clientY - box.top) / box.height, y.size)];
  };
  const ways = {ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0]};
  const listen = (over) => {
    const point = (event) => {
      const here = under(over, event);
      if (now.here && here[0] === now.here[0] && here[1] === now.here[1]) return;
      now.here = here;
      upon();
    };
    over.addEventListener("pointermove", point);
    over.addEventListener("click", (event) => {
      point(event);
      setOut();
    });
    over.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const way = ways[event.key];
      if (!way && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      const limits = chosen().map((axis) => axis.size);
      if (!now.here) now.here = limits.map((count) => count >> 1);
      else if (way) now.here = now.here.map((one, k) => Math.min(Math.max(one + way[k], 0), limits[k] - 1));
      if (way) upon();
      else setOut();
    });
  };

  // --- controls ---
  const fill = (id, entries) => byId(id).append(...entries.map(([value, text]) => option(value, text)));
  fill("x-show", Array.from(shows, ([key, {text}]) => [key, text]));
  fill("x-goal", data.goals.map((name, place) => [String(place), name]));
  fill("x-action", data.actions.map((name, place) => [String(place), name]));
  for (const id of ["x-across", "x-up"]) fill(id, axes.map((axis, place) => [String(place), axis.name]));
  const sliders = axes.map((axis, place) => {
    const line = element("p");
    const label = element("label", axis.name);
    label.htmlFor = `x-at-${place}`;
    const input = element("input");
    Object.assign(input, {type: "range", id: `x-at-${place}`, min: "0", max: String(axis.size - 1)});
    input.value = String(now.at[place]);
    const output = element("output");
    output.htmlFor = input.id;
    const say = () => {
      output.textContent = number(middle(axis, now.at[place]));
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.addEventListener("input", () => {
      now.at[place] = Number(input.value);
      say();
      draw();
    });
    say();
    line.append(label, input, output);
    byId("x-sliders").append(line);
    return line;
  });
  const arrange = () => {
    byId("x-across").value = String(now.x);
    byId("x-up").value = String(now.y);
    sliders.forEach((line, place) => { line.hidden = place === now.x || place === now.y; });
    byId("x-sliders").hidden = axes.length < 3;
    now.here = null;
    draw();
  };
  const onChange = (id, act) => byId(id).addEventListener("change", (event) => act(event.target));
  onChange("x-show", ({value}) => { now.show = value; draw(); });
  onChange("x-goal", ({value}) => { now.goal = Number(value); draw(); });
  onChange("x-action", ({value}) => { now.action = Number(value); draw(); });
  onChange("x-across", ({value}) => { [now.x, now.y] = [Number(value), Number(value) === now.y ? now.x : now.y]; arrange(); });
  onChange("x-up", ({value}) => { [now.x, now.y] = [Number(value) === now.x ? now.y : now.x, Number(value)]; arrange(); });
  for (const id of ["x-scale", "x-apart", "x-arrows"]) onChange(id, draw);
  byId("x-step").addEventListener("input", (event) => { now.step = Number(event.target.value); upon(); });
  byId("x-clear").addEventListener("click", () => { now.start = null; upon(); });
  byId("x-show").value = now.show;
  byId("x-action").value = String(now.action);
  byId("x-arrows").disabled = !has("move/truth") && !modelled;
  byId("explore").hidden = false;
  arrange();
})();
