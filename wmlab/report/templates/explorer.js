// The explorer of a finite world: choose a state and an action, see what the model and the truth say there.
// All numbers are those of the stored arrays; nothing is computed but means over states that share a cell.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const byId = (id) => document.getElementById(id);
  const unpack = (packed) => {
    const text = atob(packed.bytes);
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const read = packed.type === "<i4" ? (at) => view.getInt32(at, true) : (at) => view.getFloat32(at, true);
    return {shape: packed.shape, at: Array.from({length: bytes.length / 4}, (_, i) => read(4 * i))};
  };
  const arrays = {};
  for (const [name, packed] of Object.entries(data.arrays)) arrays[name] = unpack(packed);
  const states = data.states.length;
  const actions = data.actions.length;
  const has = (name) => Object.prototype.hasOwnProperty.call(arrays, name);
  const now = {state: 0, action: 0, goal: 0, show: ""};

  // --- numbers and elements ---
  const number = (value) => {
    if (value === undefined || Number.isNaN(value)) return "–";
    if (Number.isInteger(value)) return String(value);
    const size = Math.abs(value);
    return (size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(4))) : value.toExponential(2)).replace("-", "−");
  };
  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const cell = (value) => {
    const made = element("td", number(value), "number");
    made.dataset.value = String(value);
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

  // --- what the map can show: a number for each state ---
  const over = (name, take) => (state) => take(Array.from({length: actions}, (_, a) => arrays[name].at[state * actions + a]));
  const mean = (list) => list.reduce((sum, one) => sum + one, 0) / list.length;
  const shows = new Map();
  shows.set("v", {text: "V of the agent, for a goal", read: (state) => arrays.v.at[now.goal * states + state], goal: true});
  shows.set("q", {text: "Q of the agent, for a goal and the action", read: (state) => arrays.q.at[(now.goal * states + state) * actions + now.action], goal: true});
  if (has("tv")) shows.set("tv", {text: "error of the model: total variation, mean over actions", read: over("tv", mean)});
  if (has("residual")) shows.set("residual", {text: "residual of the fit, mean over actions", read: over("residual", mean)});
  shows.set("nullity", {text: "rank deficiency: directions left open, greatest over actions", read: over("nullity", (list) => Math.max(...list))});
  if (has("high")) {
    const width = arrays.next.shape[2];
    shows.set("open", {text: "widest identified interval", read: (state) => {
      let widest = 0;
      for (let i = state * actions * width; i < (state + 1) * actions * width; i += 1) widest = Math.max(widest, arrays.high.at[i] - arrays.low.at[i]);
      return widest;
    }});
  }
  if (has("visits")) shows.set("visits", {text: "visits of the agent", read: (state) => arrays.visits.at[state]});
  for (const name of data.unseen) {
    for (const [side, text] of [["plan", "the model’s plan"], ["oracle", "the best plan"]]) {
      const key = `${side}/${name}`;
      if (has(`${key}/value`)) shows.set(key, {text: `${text} for ${name}`, read: (state) => arrays[`${key}/value`].at[state], steps: arrays[`${key}/step`].at, unseen: name});
    }
  }
  const varies = (name) => {
    const values = Array.from({length: states}, (_, state) => shows.get(name).read(state));
    return Math.max(...values) - Math.min(...values) > 1e-12;
  };
  now.show = has("tv") && varies("tv") ? "tv" : "v"; // an error that is the same everywhere has no picture

  // --- colours: dark to light, in equal steps of lightness ---
  const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const colour = (part) => {
    const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    return `rgb(${stops[low].map((value, i) => Math.round(value + (at - low) * (stops[low + 1][i] - value))).join(",")})`;
  };

  // --- the map ---
  const map = byId("x-map");
  const [rows, columns] = data.shape;
  map.setAttribute("viewBox", `-0.1 -0.1 ${columns + 0.2} ${rows + 0.2}`);
  const inCell = new Map();
  data.cells.forEach(([row, column], state) => {
    const key = `${row},${column}`;
    inCell.set(key, [...(inCell.get(key) || []), state]);
  });
  const squares = new Map();
  const ground = svg("g", {});
  const marks = svg("g", {"class": "marks"});
  const front = svg("g", {"class": "front"});
  map.append(ground, marks, front);
  for (const [key, members] of inCell) {
    const [row, column] = key.split(",").map(Number);
    const square = svg("rect", {x: column, y: row, width: 1, height: 1, "class": "cell"});
    const title = svg("title", {});
    square.append(title);
    square.addEventListener("click", () => {
      const place = members.indexOf(now.state);
      choose({state: members[(place + 1) % members.length]});
      map.focus({preventScroll: true});
    });
    ground.append(square);
    squares.set(key, {square, title, members});
  }

  const paint = () => {
    const shown = shows.get(now.show);
    const values = new Map();
    for (const [key, {members}] of squares) values.set(key, mean(members.map(shown.read)));
    const known = Array.from(values.values()).filter(Number.isFinite);
    const least = Math.min(...known);
    const most = Math.max(...known);
    for (const [key, {square, title, members}] of squares) {
      const value = values.get(key);
      const fill = Number.isFinite(value) ? colour(most > least ? (value - least) / (most - least) : 0.5) : "none";
      square.setAttribute("fill", fill);
      square.dataset.value = String(value);
      title.textContent = `${data.states[members[0]]}${members.length > 1 ? ` and ${members.length - 1} more` : ""}: ${number(value)}`;
    }
    byId("x-least").textContent = number(least);
    byId("x-most").textContent = number(most);
    byId("x-caption").textContent = `${shown.text}${shown.goal ? `: ${data.goals[now.goal]}` : ""}.`;
    byId("x-goal").disabled = !shown.goal;
    marks.replaceChildren();
    if (shown.unseen) drawPlan(shown);
    else drawGoals(shown);
  };

  const turns = {up: [0, -1], right: [1, 0], down: [0, 1], left: [-1, 0], north: [0, -1], east: [1, 0], south: [0, 1], west: [-1, 0]};
  const drawSigns = (states, sort, text) => {
    for (const state of new Set(states)) {
      const [row, column] = data.cells[state];
      const made = svg("text", {x: column + 0.5, y: row + 0.5, "class": sort});
      made.textContent = text;
      marks.append(made);
    }
  };
  // The chosen goal of the training, or all of them; where every state is one, there is nothing to tell apart.
  const drawGoals = (shown) => {
    const states = shown.goal ? data.trained[now.goal] || [] : data.trained.flat();
    if (new Set(states).size < data.cells.length) drawSigns(states, "goal", "☆");
  };
  const drawPlan = (shown) => {
    const ends = data.marks[shown.unseen] || {reach: [], avoid: []};
    drawSigns(ends.reach, "reach", "★");
    drawSigns(ends.avoid, "avoid", "✕");
    const ended = new Set([...ends.reach, ...ends.avoid]);
    for (const {members} of squares.values()) {
      const state = members.includes(now.state) ? now.state : members[0];
      const turn = turns[data.actions[shown.steps[state]]];
      if (ended.has(state) || !turn) continue;
      const [row, column] = data.cells[state];
      const [x, y] = [column + 0.5, row + 0.5];
      const [dx, dy] = turn;
      marks.append(svg("path", {"class": "step", d: `M${x - 0.28 * dx},${y - 0.28 * dy}L${x + 0.28 * dx},${y + 0.28 * dy}M${x + 0.28 * dx - 0.15 * dx - 0.15 * dy},${y + 0.28 * dy - 0.15 * dy - 0.15 * dx}L${x + 0.28 * dx},${y + 0.28 * dy}L${x + 0.28 * dx - 0.15 * dx + 0.15 * dy},${y + 0.28 * dy - 0.15 * dy + 0.15 * dx}`}));
    }
  };

  // --- the chosen state and action ---
  const nextStates = () => {
    const width = arrays.next.shape[2];
    const start = (now.state * actions + now.action) * width;
    const list = [];
    for (let i = start; i < start + width; i += 1) if (arrays.next.at[i] >= 0) list.push(i);
    return list;
  };
  const table = (caption, heads, lines) => {
    const made = element("table");
    made.append(element("caption", caption));
    const head = element("tr");
    heads.forEach((text, place) => {
      const one = element("th", text, place ? "number" : "");
      one.scope = "col";
      head.append(one);
    });
    const top = element("thead");
    top.append(head);
    const body = element("tbody");
    for (const [name, ...numbers] of lines) {
      const line = element("tr");
      const first = element("th", name);
      first.scope = "row";
      line.append(first, ...numbers.map((value) => (value instanceof Node ? value : cell(value))));
      body.append(line);
    }
    made.append(top, body);
    return made;
  };
  const interval = (low, high) => {
    const made = element("td", `[${number(low)}, ${number(high)}]`, "number");
    made.dataset.low = String(low);
    made.dataset.high = String(high);
    return made;
  };

  const tell = () => {
    const pair = now.state * actions + now.action;
    const list = nextStates();
    const sides = ["model", "truth"].filter(has);
    const words = {model: "extracted", truth: "true"};
    front.replaceChildren();
    const [row, column] = data.cells[now.state];
    front.append(svg("rect", {x: column, y: row, width: 1, height: 1, "class": "here"}));
    for (const i of list) {
      const [y, x] = data.cells[arrays.next.at[i]];
      for (const side of sides) {
        const share = Math.max(0, Math.min(1, arrays[side].at[i]));
        if (share > 0) front.append(svg("circle", {cx: x + 0.5, cy: y + 0.5, r: 0.42 * Math.sqrt(share), "class": side}));
      }
    }
    const heading = element("h3", `${data.states[now.state]}, ${data.actions[now.action]}`);
    const heads = ["Next state", ...sides.map((side) => words[side]), ...(has("high") ? ["identified"] : [])];
    const lines = list.map((i) => [data.states[arrays.next.at[i]], ...sides.map((side) => arrays[side].at[i]), ...(has("high") ? [interval(arrays.low.at[i], arrays.high.at[i])] : [])]);
    const left = arrays.left_out.at[pair];
    const facts = [];
    if (has("tv")) facts.push(["Total variation from the truth", arrays.tv.at[pair]]);
    if (has("residual")) facts.push(["Residual of the fit", arrays.residual.at[pair]]);
    facts.push(["Directions that values leave open", arrays.nullity.at[pair]]);
    if (has("visits")) facts.push(["Visits of the agent here", arrays.visits.at[now.state]]);
    const parts = [heading];
    if (list.length) parts.push(table(`Where this action leads${left ? `; ${left} less likely next states are not kept` : ""}.`, heads, lines));
    parts.push(table("At this state and action.", ["", "Value"], facts));
    parts.push(table("Values for training goals.", ["Goal", "Q here", "V here"], data.goals.map((goal, g) => [goal, arrays.q.at[(g * states + now.state) * actions + now.action], arrays.v.at[g * states + now.state]])));
    const plans = data.unseen.filter((name) => has(`plan/${name}/value`));
    if (plans.length) {
      const step = (key) => element("td", has(`${key}/step`) ? data.actions[arrays[`${key}/step`].at[now.state]] : "–");
      const value = (key) => (has(`${key}/value`) ? arrays[`${key}/value`].at[now.state] : NaN);
      parts.push(table("Plans for unseen goals, from here.", ["Goal", "model’s V", "its step", "V*", "best step"], plans.map((name) => [name, value(`plan/${name}`), step(`plan/${name}`), value(`oracle/${name}`), step(`oracle/${name}`)])));
    }
    byId("x-facts").replaceChildren(...parts);
  };

  const choose = (changed) => {
    Object.assign(now, changed);
    byId("x-state").value = String(now.state);
    byId("x-show").value = now.show;
    byId("x-goal").value = String(now.goal);
    for (const button of byId("x-actions").children) button.setAttribute("aria-pressed", String(Number(button.dataset.action) === now.action));
    paint();
    tell();
  };

  // --- controls ---
  byId("x-show").append(...Array.from(shows, ([key, {text}]) => option(key, text)));
  byId("x-goal").append(...data.goals.map((name, place) => option(String(place), name)));
  byId("x-state").append(...data.states.map((name, place) => option(String(place), name)));
  byId("x-actions").append(...data.actions.map((name, place) => {
    const button = element("button", name);
    button.type = "button";
    button.dataset.action = String(place);
    button.addEventListener("click", () => choose({action: place}));
    return button;
  }));
  byId("x-show").addEventListener("change", (event) => choose({show: event.target.value}));
  byId("x-goal").addEventListener("change", (event) => choose({goal: Number(event.target.value)}));
  byId("x-state").addEventListener("change", (event) => choose({state: Number(event.target.value)}));
  const ways = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
  map.addEventListener("keydown", (event) => {
    const way = ways[event.key];
    if (!way || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    let [row, column] = data.cells[now.state];
    do { // over walls, to the next cell that way
      row += way[0];
      column += way[1];
      const found = inCell.get(`${row},${column}`);
      if (found) {
        choose({state: found[0]});
        return;
      }
    } while (row >= 0 && row < rows && column >= 0 && column < columns);
  });
  byId("explore").hidden = false;
  choose({});
})();
