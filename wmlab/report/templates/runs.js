// The table of runs: search and sort what is written in it. Without this script it is a table, the newest run first.
"use strict";
(() => {
  const table = document.getElementById("runs");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => ({
    row,
    text: Array.from(row.cells, (cell) => cell.textContent).join(" ").toLowerCase(),
    keys: Array.from(row.cells, (cell) => cell.dataset.key || ""),
  }));

  // --- search ---
  const box = document.getElementById("search");
  const counted = document.getElementById("counted");
  const search = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const entry of rows) {
      const fits = words.every((word) => entry.text.includes(word));
      entry.row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    counted.textContent = shown === rows.length ? `${shown} in all` : `${shown} of ${rows.length}`;
  };
  box.addEventListener("input", search);
  document.getElementById("finder").hidden = false;
  search();

  // --- sort: a button in each heading; what has no value comes last, whichever way ---
  const heads = Array.from(table.tHead.rows[0].cells);
  const sort = (column, direction) => {
    const isNumber = heads[column].dataset.sort === "number";
    const compare = (one, other) => {
      const a = one.keys[column];
      const b = other.keys[column];
      if (a === "" || b === "") return (a === "" ? 1 : 0) - (b === "" ? 1 : 0);
      return direction * (isNumber ? Number(a) - Number(b) : a < b ? -1 : a > b ? 1 : 0);
    };
    body.append(...rows.slice().sort(compare).map((entry) => entry.row));
    heads.forEach((head, place) => {
      if (head.dataset.sort) head.setAttribute("aria-sort", place !== column ? "none" : direction > 0 ? "ascending" : "descending");
    });
  };
  heads.forEach((head, column) => {
    if (!head.dataset.sort) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const first = head.dataset.first === "descending" ? -1 : 1;
      sort(column, now === "ascending" ? -1 : now === "descending" ? 1 : first);
    });
  });
})();
