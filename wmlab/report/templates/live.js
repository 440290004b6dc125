// A run while it goes on: asks every second what has changed, and draws that. Whatever comes is put in place as text.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("live-data").textContent);
  const byId = (id) => document.getElementById(id);
  const every = 1000; // milliseconds
  const stages = data.stages.map((stage) => ({...stage, state: "waiting"}));
  const curves = new Map();
  let version = 0;
  let failures = 0; // to get an answer, in a row

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
  const duration = (seconds) => {
    if (!Number.isFinite(seconds)) return "–";
    if (seconds < 60) return `${Math.round(seconds)} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
    return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
  };
  const number = (value) => {
    const size = Math.abs(value);
    return (value === 0 || (size >= 1e-3 && size < 1e5) ? String(Number(value.toPrecision(3))) : value.toExponential(2)).replace(/-/g, "−");
  };

  // --- the graph: a box for each kind, a square for each stage ---
  const squares = new Map();
  const of = new Map(data.kinds.map((kind) => [kind, []]));
  stages.forEach((stage, place) => of.get(stage.kind).push(place));
  for (const home of document.querySelectorAll("[data-squares]")) {
    for (const place of of.get(home.dataset.squares)) {
      const square = element("span", undefined, "square waiting");
      square.title = stages[place].label;
      squares.set(place, square);
      home.append(square);
    }
  }
  const boxes = new Map(Array.from(document.querySelectorAll(".plan .box"), (box) => [box.dataset.kind, box]));
  const isDone = (stage) => stage.state === "done" || stage.state === "cached";
  const isLost = (stage) => stage.state === "failed" || stage.state === "skipped";
  const drawKind = (kind) => {
    const box = boxes.get(kind);
    if (!box) return;
    const members = of.get(kind).map((place) => stages[place]);
    const count = (state) => members.filter((stage) => stage.state === state).length;
    const done = count("done") + count("cached");
    const lost = count("failed") + count("skipped");
    const running = count("running");
    const part = members.reduce((sum, stage) => sum + (isDone(stage) ? 1 : stage.state === "running" ? stage.share || 0 : 0), 0);
    const width = (count) => (132 * count) / Math.max(1, members.length);
    box.querySelector(".done").setAttribute("width", String(width(part)));
    box.querySelector(".lost").setAttribute("width", String(width(lost)));
    box.querySelector(".lost").setAttribute("x", String(132 - width(lost)));
    box.querySelector(".count").textContent = `${done} of ${members.length}${running ? ` · ${running} on` : ""}${lost ? ` · ✗ ${lost}` : ""}`;
    box.classList.toggle("failed", lost > 0);
    box.classList.toggle("running", running > 0);
  };
  const drawStage = (place) => {
    const stage = stages[place];
    const square = squares.get(place);
    square.className = `square ${stage.state}`;
    const share = Number.isFinite(stage.share) ? `, ${Math.round(100 * stage.share)} %` : "";
    square.title = `${stage.label}: ${stage.state}${stage.state === "running" ? share : ""}`;
  };

  // --- lists ---
  const rows = new Map();
  const drawRunning = (now) => {
    const home = byId("l-running");
    const running = stages.flatMap((stage, place) => (stage.state === "running" ? [place] : []));
    for (const [place, line] of rows) if (!running.includes(place)) {
      line.remove();
      rows.delete(place);
    }
    for (const place of running) {
      if (!rows.has(place)) {
        const line = element("tr");
        const head = element("th", stages[place].label);
        head.scope = "row";
        const bar = element("progress");
        bar.max = 1;
        bar.setAttribute("aria-label", `How far ${stages[place].label} is`);
        const far = element("td");
        far.append(bar, element("span"));
        line.append(head, far, element("td"), element("td"), element("td"));
        rows.set(place, line);
        home.append(line);
      }
      const stage = stages[place];
      const [, far, since, left, note] = rows.get(place).children;
      const took = now - stage.since;
      if (Number.isFinite(stage.share)) {
        far.firstChild.value = stage.share;
        far.lastChild.textContent = ` ${Math.round(100 * stage.share)} %`;
      }
      since.textContent = duration(took);
      left.textContent = stage.share > 0.02 ? duration(took / stage.share - took) : "–";
      note.textContent = stage.note || "";
    }
    if (!running.length) home.replaceChildren();
  };
  const drawFailures = () => {
    const lost = stages.filter(isLost);
    byId("l-failed").hidden = !lost.length;
    byId("l-failures").replaceChildren(...lost.slice(0, 50).map((stage) => {
      const line = element("li");
      line.append(element("strong", stage.label), element("p", stage.error || stage.state, "error"));
      if (stage.tail) {
        const more = element("details");
        more.append(element("summary", "Last lines"), element("pre", stage.tail));
        line.append(more);
      }
      return line;
    }));
    if (lost.length > 50) byId("l-failures").append(element("li", `and ${lost.length - 50} more`));
  };

  // --- learning curves: a picture for each number, a line for each stage ---
  const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
  const dashes = ["none", "6 3", "2 2"]; // for the lines after those of the first colours
  const look = (place) => ({stroke: colours[place % colours.length], "stroke-dasharray": dashes[Math.floor(place / colours.length) % dashes.length]});
  const drawCurves = () => {
    const names = new Set();
    for (const {lines} of curves.values()) Object.keys(lines).forEach((name) => names.add(name));
    byId("l-learning").hidden = !names.size;
    byId("l-curves").replaceChildren(...Array.from(names, (name) => {
      const lists = Array.from(curves.values()).filter(({lines}) => lines[name] && lines[name].length > 1);
      const figure = element("figure");
      const kinds = new Map();
      lists.forEach((one) => kinds.set(one.kind, [...(kinds.get(one.kind) || []), one]));
      for (const [kind, members] of kinds) figure.append(picture(`${kind}: ${name}`, members.map(({label, lines}) => [label, lines[name]])));
      return figure;
    }));
  };
  const picture = (title, lists) => {
    const home = element("div");
    const all = lists.flatMap(([, list]) => list);
    const most = Math.max(...all.map(([x]) => x));
    let [low, high] = [Math.min(...all.map(([, y]) => y)), Math.max(...all.map(([, y]) => y))];
    const powers = low > 0 && high > 50 * low;
    const scale = (y) => (powers ? Math.log(y) : y);
    [low, high] = [scale(low), scale(high)];
    const last = lists.map(([label, list]) => `${label} ${number(list[list.length - 1][1])}`).join("; ");
    const drawn = svg("svg", {viewBox: "0 0 340 170", role: "img", "aria-label": `${title}, by updates${powers ? ", in powers of ten" : ""}: ${last}`, "class": "curve"});
    const x = (value) => 52 + (280 * value) / Math.max(most, 1);
    const y = (value) => 138 - (high > low ? (124 * (scale(value) - low)) / (high - low) : 62);
    drawn.append(svg("path", {"class": "axis", d: "M52,10V138H332"}));
    const word = (text, attributes) => {
      const made = svg("text", attributes);
      made.textContent = text;
      drawn.append(made);
    };
    const value = (part) => (powers ? Math.exp(part) : part);
    word(number(value(high)), {x: 48, y: 18, "text-anchor": "end"});
    word(number(value(low)), {x: 48, y: 138, "text-anchor": "end"});
    word("0", {x: 52, y: 154});
    word(`${number(most)} updates`, {x: 332, y: 154, "text-anchor": "end"});
    lists.forEach(([label, list], place) => {
      const line = svg("path", {fill: "none", ...look(place), "stroke-width": 1.6, d: list.map(([u, v], i) => `${i ? "L" : "M"}${x(u).toFixed(1)},${y(v).toFixed(1)}`).join("")});
      const name = svg("title", {});
      name.textContent = label;
      line.append(name);
      drawn.append(line);
    });
    home.append(drawn);
    if (lists.length > 1) home.append(legend(lists.map(([label]) => label)));
    home.append(element("figcaption", `${title}${powers ? ", in powers of ten" : ""}; ${lists.length === 1 ? lists[0][0] : `${lists.length} stages`}.`));
    return home;
  };

  const NAMED = 12; // lines of a legend; colours come again long before
  const legend = (labels) => {
    const home = element("ul", undefined, "key aside");
    labels.slice(0, NAMED).forEach((label, place) => {
      const line = element("li");
      const mark = svg("svg", {viewBox: "0 0 20 6", width: 20, height: 6, "aria-hidden": "true"});
      mark.append(svg("path", {fill: "none", "stroke-width": 2.4, d: "M0,3H20", ...look(place)}));
      line.append(mark, document.createTextNode(` ${label}`));
      home.append(line);
    });
    if (labels.length > NAMED) home.append(element("li", `and ${labels.length - NAMED} more`));
    return home;
  };

  // --- claims and words ---
  let claimed = "";
  const drawClaims = (claims, note) => {
    const text = JSON.stringify([claims, note]);
    if (text === claimed) return;
    claimed = text;
    byId("l-claims-note").textContent = note || (claims.length ? "" : "Claims come when their stages are done.");
    byId("l-claims").replaceChildren(...claims.map((claim) => {
      const line = element("tr", undefined, claim.verdict === "fails" ? "fails" : "");
      const head = element("th", claim.id);
      head.scope = "row";
      line.append(head, element("td", claim.words), element("td", claim.measured, "number"), element("td", `${claim.mark} ${claim.verdict}`, claim.verdict));
      return line;
    }));
  };
  const list = (home, section, texts) => {
    byId(section).hidden = !texts.length;
    if (byId(home).children.length !== texts.length || texts.some((text, i) => byId(home).children[i].textContent !== text)) byId(home).replaceChildren(...texts.map((text) => element("li", text)));
  };
  const say = (told) => {
    const done = stages.filter(isDone).length;
    const lost = stages.filter(isLost).length;
    byId("l-whole").value = stages.length ? done / stages.length : 0;
    byId("l-counts").textContent = `${done} of ${stages.length} stages are done${told.counts.cached ? `, ${told.counts.cached} of them known before` : ""}${lost ? `, ✗ ${lost} failed or skipped` : ""}${told.counts.running ? `, ${told.counts.running} running` : ""}.`;
    const words = {running: "The run is on.", done: "The run is done.", failed: "The run is over: stages failed.", unfinished: "The run is over: its budget was spent.", interrupted: "The run was interrupted; what is finished is kept.", died: "The run died: its process is gone."};
    const marks = {running: "…", done: "✓", failed: "✗", died: "✗"};
    const left = told.left && told.run === "running" ? ` About ${duration(Math.max(0, told.left[0] - (told.now - told.left[1])))} left.` : "";
    const sentence = `${words[told.run] || told.run}${left}`;
    if (byId("l-sentence").textContent !== sentence) byId("l-sentence").textContent = sentence;
    byId("l-mark").textContent = marks[told.run] || "○";
    byId("l-summary").className = `summary ${told.run === "done" ? "good" : told.run === "failed" || told.run === "died" ? "bad" : "none"}`;
    document.title = `${stages.length ? Math.round((100 * done) / stages.length) : 0} % · ${document.querySelector("h1").textContent}`;
  };

  // --- asking ---
  const take = (told) => {
    version = told.version;
    const kinds = new Set();
    let lost = false;
    for (const change of told.stages) {
      const stage = stages[change.stage];
      if (!stage) continue;
      lost = lost || stage.error !== change.error || change.state === "failed" || change.state === "skipped";
      Object.assign(stage, {share: undefined, note: "", error: "", tail: ""}, change);
      drawStage(change.stage);
      kinds.add(stage.kind);
    }
    kinds.forEach(drawKind);
    if (lost) drawFailures();
    for (const {stage, label, curves: lines} of told.curves) curves.set(stage, {label, lines, kind: stages[stage].kind});
    if (told.curves.length) drawCurves();
    drawRunning(told.now);
    drawClaims(told.claims, told.claims_note);
    list("l-notices", "l-words", told.notices);
    byId("l-said").hidden = !told.printed;
    if (byId("l-printed").textContent !== told.printed) byId("l-printed").textContent = told.printed;
    say(told);
  };
  const ask = async () => {
    try {
      const answer = await fetch(`state?since=${version}`, {cache: "no-store"});
      if (!answer.ok) throw new Error(String(answer.status));
      const told = await answer.json();
      failures = 0;
      take(told);
      if (told.over) {
        if (told.page) window.location.replace(told.page);
        else if (told.run !== "done" && told.run !== "failed" && told.run !== "unfinished") return; // there will be no page
      }
    } catch (error) {
      failures += 1;
      if (failures > 2) byId("l-sentence").textContent = "Nobody answers any more: the page is served no longer. The run is not touched by that.";
    }
    window.setTimeout(ask, document.hidden ? 5 * every : every * Math.min(failures + 1, 10));
  };
  ask();
})();
