// A grid to paint, and what softmax makes of each row. Python keeps the answer and its history.

const FEW = 8; // up to so many tokens, every word and every weight is written out
const STEPS = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
  Home: [0, -Infinity], End: [0, Infinity], PageUp: [-Infinity, 0], PageDown: [Infinity, 0],
};
const within = (number, low, high) => Math.min(Math.max(number, low), high);
const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, key) => values[key]);
const rowsOf = (answer) => answer.split(/\s+/).filter(Boolean);

// An answer as T rows of T booleans; what is no 1 is not painted.
function read(answer, T) {
  const rows = rowsOf(answer);
  return Array.from({ length: T }, (_, i) => Array.from({ length: T }, (_, j) => rows[i]?.[j] === "1"));
}

function write(mask) {
  const painted = mask.some((row) => row.includes(true));
  return painted ? mask.map((row) => row.map(Number).join("")).join(" ") : "";
}

const isRegular = (answer, T) =>
  !answer || (rowsOf(answer).length === T && rowsOf(answer).every((row) => /^[01]+$/.test(row) && row.length === T));

// The weights of a row: softmax of the scores that it may see, or null if there are none.
function share(row, scores) {
  const parts = row.map((seen, j) => (seen ? Math.exp(scores[j]) : 0));
  const sum = parts.reduce((before, part) => before + part, 0);
  return sum ? parts.map((part) => part / sum) : null;
}

// What lies between two places. Column -1 is the head of a row, and takes in the whole row.
function region([row, column], [toRow, toColumn], T) {
  const [top, bottom] = [Math.min(row, toRow), Math.max(row, toRow)];
  if (column < 0) return { top, bottom, left: 0, right: T - 1 };
  return { top, bottom, left: Math.min(column, Math.max(toColumn, 0)), right: Math.max(column, toColumn) };
}

function paint(mask, { top, bottom, left, right }, value) {
  const painted = (row) => row.map((old, j) => (left <= j && j <= right ? value : old));
  return mask.map((row, i) => (top <= i && i <= bottom ? painted(row) : row));
}

// The elements of the grid and of the bars beside it; `show` draws a mask, changing what differs.
function board(words, tokens, scores) {
  const T = scores.length, few = T <= FEW, numbers = [...scores.keys()];
  const name = (i) => (tokens.length ? `${i} ${tokens[i]}` : `${i}`);
  const mark = (i) => [
    make("span", { class: T > 20 && i % 8 ? "blocklab-silent" : false }, `${i}`),
    ...(tokens.length ? [make("span", { class: "blocklab-word" }, ` ${tokens[i]}`)] : []),
  ];
  const heads = numbers.map((i) => make("div", {
    role: "rowheader", tabindex: -1, "aria-label": fill(words.row, { row: name(i) }),
  }, ...mark(i)));
  const cells = numbers.map(() => numbers.map(() => make("div", { role: "gridcell", tabindex: -1 })));
  const corner = make("div", { role: "columnheader" }, words.looks);
  const top = numbers.map((j) => make("div", { role: "columnheader", "aria-label": name(j) }, ...mark(j)));
  const grid = make("div", { role: "grid", "aria-label": words.title, "aria-multiselectable": "true" },
    make("div", { role: "row" }, corner, ...top),
    ...numbers.map((i) => make("div", { role: "row" }, heads[i], ...cells[i])));
  const bars = numbers.map(() => make("div", { class: "blocklab-bar" }));
  if (few) for (const bar of bars) bar.append(...numbers.map((j) => make("span", {}, ...mark(j))));

  let shown = [];
  function show(mask) {
    mask.forEach((row, i) => {
      if (row.every((seen, j) => seen === shown[i]?.[j])) return;
      const weights = share(row, scores);
      row.forEach((seen, j) => { if (few || seen !== shown[i]?.[j]) showCell(i, j, seen, weights); });
      (few ? showFew : showMany)(bars[i], weights);
    });
    shown = mask;
  }

  function showCell(i, j, seen, weights) {
    const says = fill(seen ? words.may : words.may_not, { row: name(i), column: name(j) });
    const weight = few && weights ? weights[j].toFixed(2) : "";
    cells[i][j].setAttribute("aria-selected", String(seen));
    cells[i][j].setAttribute("aria-label", says + (weight && fill(words.weight, { weight })));
    if (!few) return;
    cells[i][j].textContent = seen ? weight : "";
    cells[i][j].style.setProperty("--weight", seen ? weight : 0);
  }

  function showFew(bar, weights) {
    bar.dataset.nothing = weights ? "" : words.nothing;
    [...bar.children].forEach((part, j) => {
      part.hidden = !weights?.[j];
      part.style.flexGrow = weights?.[j] ?? 0;
    });
  }

  function showMany(bar, weights) {
    bar.dataset.nothing = weights ? "" : words.nothing;
    let end = 0;
    const stops = (weights ?? []).flatMap((weight, j) => {
      if (!weight) return [];
      const from = 100 * end, to = 100 * (end += weight);
      return `var(--score-${scores[j]}) ${from.toFixed(2)}% ${to.toFixed(2)}%`;
    });
    bar.style.backgroundImage = weights ? `linear-gradient(to right, ${stops})` : "";
  }

  const lines = bars.map((bar, i) => make("div", {}, make("div", { class: "blocklab-name" }, ...mark(i)), bar));
  return { grid, heads, cells, name, show, bars: make("div", { class: "blocklab-bars", "aria-hidden": "true" },
    make("div", { class: "blocklab-axis" }, words.shares), ...lines) };
}

function render({ model, el }) {
  const leave = settle(model, el, press);
  const words = model.get("words"), scores = model.get("scores"), T = scores.length;
  const { grid, heads, cells, name, show, bars } = board(words, model.get("tokens"), scores);
  const frame = make("div", { class: "blocklab-region", hidden: true });
  const says = make("p", { class: "blocklab-says", role: "status" });
  const undo = make("button", { type: "button", onclick: () => model.get("undoable") && model.send("undo") }, words.undo);
  const clear = make("button", { type: "button", onclick: () => tell(model, { answer: "" }) }, words.clear);
  const code = make("code", { role: "group", "aria-label": words.code, tabindex: 0 });
  el.append(
    make("div", {}, make("b", {}, `${words.title}.`), ` ${words.question}`),
    make("div", { class: "blocklab-paint-mask", style: `--T: ${T}`, "data-few": T <= FEW && T, "data-words": model.get("tokens").length > 0 },
      make("div", { class: "blocklab-board" },
        make("div", {},
          make("div", { class: "blocklab-axis", "aria-hidden": "true" }, words.seen),
          make("div", { class: "blocklab-grid" }, grid, frame)),
        bars)),
    make("div", { class: "blocklab-row" }, undo, clear),
    says,
    make("div", { class: "blocklab-how" }, words.how),
    make("div", { class: "blocklab-how" }, words.scores),
    make("div", { class: "blocklab-how" }, words.code), code);

  const places = new Map();
  heads.forEach((head, i) => places.set(head, [i, -1]));
  cells.forEach((row, i) => row.forEach((cell, j) => places.set(cell, [i, j])));
  const at = ([row, column]) => (column < 0 ? heads[row] : cells[row][column]);
  const place = (target) => places.get(target.closest?.("[role=gridcell], [role=rowheader]"));
  let mask, here = [0, 0]; // what is painted; the place that has the focus when the grid has it
  let anchor = null; // where a region that the keys choose begins
  let stroke = null; // of the pointer: where it began, where it is, and whether it paints or wipes
  at(here).tabIndex = 0;

  function go(to) {
    at(here).tabIndex = -1;
    at(to).tabIndex = 0;
    at(to).focus({ preventScroll: Boolean(stroke) });
    here = to;
  }

  // Painting makes the place where it begins what it was not; a row's head stands for its cells.
  const value = ([row, column]) => !(column < 0 ? mask[row].every(Boolean) : mask[row][column]);
  const paintFrom = (start) => tell(model, { answer: write(paint(mask, region(start, here, T), value(start))) });

  function draw() {
    const start = stroke?.start ?? anchor;
    const chosen = region(start ?? here, stroke?.to ?? here, T);
    show(stroke ? paint(mask, chosen, stroke.value) : mask);
    frame.hidden = !start;
    const size = { top: chosen.top, left: chosen.left, rows: 1 + chosen.bottom - chosen.top, columns: 1 + chosen.right - chosen.left };
    for (const [side, cells] of Object.entries(size)) frame.style.setProperty(`--${side}`, cells);
    if (!stroke) says.textContent = anchor ? fill(words.region, size) : sentence(here[0]);
  }

  function sentence(row) {
    const which = (looks) => [...scores.keys()].filter((j) => mask[row][j] === looks);
    const count = which(true).length;
    const kind = count === T ? "sees_all" : count ? "sees_some" : "sees_none";
    const values = { row: name(row), T, count, seen: list(which(true)), hidden: list(which(false)) };
    const unread = isRegular(model.get("answer"), T) ? "" : `${words.unread} `;
    return unread + fill(words[kind], values);
  }

  // Tokens by name if they are few, else each run of them from its first to its last.
  function list(columns) {
    if (T <= FEW) return columns.map(name).join(", ");
    const starts = columns.filter((j, n) => columns[n - 1] !== j - 1);
    const ends = columns.filter((j, n) => columns[n + 1] !== j + 1);
    return starts.map((j, n) => (j === ends[n] ? j : `${j}–${ends[n]}`)).join(", ");
  }

  function press(event) {
    const from = place(event.target), step = STEPS[event.key];
    if (!from) return false;
    if (step) {
      anchor = event.shiftKey ? anchor ?? from : null;
      const first = event.key === "Home" || anchor?.[1] >= 0 ? 0 : -1;
      go([within(from[0] + step[0], 0, T - 1), within(from[1] + step[1], first, T - 1)]);
    } else if (event.key === " " || event.key === "Enter") {
      const start = anchor ?? from;
      anchor = null;
      paintFrom(start);
    } else if (event.key === "Escape") anchor = null;
    else return false;
    draw();
    return true;
  }

  function under(event) {
    const { left, top } = cells[0][0].getBoundingClientRect();
    const { right, bottom } = cells[T - 1][T - 1].getBoundingClientRect();
    const index = (from, to, value) => within(Math.floor((T * (value - from)) / (to - from)), 0, T - 1);
    return [index(top, bottom, event.clientY), index(left, right, event.clientX)];
  }

  grid.addEventListener("pointerdown", (event) => {
    const start = place(event.target);
    if (!start || event.button || stroke) return;
    anchor = null;
    stroke = { start, to: start, value: value(start), pointer: event.pointerId };
    grid.setPointerCapture(event.pointerId);
    go(start);
    draw();
  });
  grid.addEventListener("pointermove", (event) => {
    if (stroke?.pointer !== event.pointerId) return;
    const to = under(event);
    if (`${to}` === `${stroke.to}`) return;
    stroke.to = to;
    draw();
  });
  grid.addEventListener("pointerup", (event) => {
    if (stroke?.pointer !== event.pointerId) return;
    const { start, to } = stroke;
    go(start[1] < 0 ? [to[0], -1] : to);
    stroke = null;
    paintFrom(start);
    draw();
  });
  grid.addEventListener("pointercancel", () => { stroke = null; draw(); });

  const stops = [
    follow(model, ["answer"], () => { mask = read(model.get("answer"), T); draw(); }),
    follow(model, ["code"], () => { code.textContent = model.get("code"); }),
    follow(model, ["undoable"], () => undo.setAttribute("aria-disabled", String(!model.get("undoable")))),
  ];
  return () => { for (const stop of stops) stop(); leave(); };
}

export default { render };
