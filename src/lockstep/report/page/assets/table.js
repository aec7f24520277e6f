"use strict";
// Tables whose columns sort. Of long ones only the rows that can be seen are made; a field finds the others.

const FIRST_ROWS = 60, MORE_ROWS = 200;
const CHOICE = []; // called where another kernel is chosen

/** By headings, or with Enter where these have the focus. `rows`: lists of values, one a column. */
function table(place, columns, rows, onChoose) {
  const head = make("tr"), body = make("tbody"), frame = make("div", { class: "frame", tabindex: "0" });
  let by = -1, down = true, shownRows = rows.map((_, i) => i), made = 0;
  const order = shownRows.slice();
  const rowOf = (i) => {
    const row = make("tr", onChoose ? { tabindex: "0", "data-row": i } : { "data-row": i });
    if (onChoose && i === chosen) row.classList.add("chosen");
    rows[i].forEach((value, c) => {
      const { text, wrap, brief } = columns[c], cell = make("td");
      cell.textContent = brief ? brief(value) : shown(value);
      if (text) cell.className = wrap ? "text wrap" : "text";
      if (text && !wrap) cell.title = value ?? "";
      row.append(cell);
    });
    return row;
  };
  const more = (count) => {
    const part = document.createDocumentFragment();
    for (const i of shownRows.slice(made, made + count)) part.append(rowOf(i));
    made = Math.min(shownRows.length, made + count);
    body.append(part);
  };
  const fill = () => {
    made = 0;
    body.replaceChildren();
    more(FIRST_ROWS);
  };
  const sortBy = (c) => {
    down = by === c ? !down : !columns[c].text;
    by = c;
    const sign = down ? -1 : 1, before = (a, b) => {
      const x = rows[a][c], y = rows[b][c];
      if (x == null || y == null) return (x == null) - (y == null) || a - b; // undefined ones last
      return sign * (typeof x === "string" ? String(x).localeCompare(String(y)) : x - y) || a - b;
    };
    order.sort(before);
    shownRows.sort(before);
    [...head.children].forEach((th, k) => th.setAttribute("aria-sort", k !== by ? "none" : down ? "descending" : "ascending"));
    fill();
  };
  columns.forEach((column, c) => {
    const button = make("button", { type: "button", title: column.meaning ?? column.title }, column.title);
    button.addEventListener("click", () => sortBy(c));
    head.append(make("th", { class: column.text ? "text" : "", scope: "col", "aria-sort": "none" }, button));
  });
  frame.addEventListener("scroll", () => {
    if (frame.scrollTop + 2 * frame.clientHeight > frame.scrollHeight) more(MORE_ROWS);
  });
  if (onChoose) {
    body.addEventListener("click", (event) => onChoose(+event.target.closest("tr").dataset.row));
    body.addEventListener("keydown", (event) => {
      const row = event.target.closest("tr");
      if (event.key === "Enter" || event.key === " ") onChoose(+row.dataset.row);
      else if (event.key === "ArrowDown") {
        if (!row.nextElementSibling) more(MORE_ROWS);
        row.nextElementSibling?.focus();
      } else if (event.key === "ArrowUp") row.previousElementSibling?.focus();
      else return;
      event.preventDefault();
    });
    CHOICE.push(() => {
      for (const row of body.children) row.classList.toggle("chosen", +row.dataset.row === chosen);
    });
  }
  if (rows.length > 20) {
    const field = make("input", { type: "search", placeholder: `find in ${shown(rows.length)} rows`, "aria-label": "Find in this table" });
    const texts = columns.map((column, c) => (column.text ? c : -1)).filter((c) => c >= 0);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      shownRows = order.filter((i) => words.every((word) => texts.some((c) => String(rows[i][c] ?? "").toLowerCase().includes(word))));
      fill();
    });
    place.append(field);
  }
  frame.append(make("table", {}, make("thead", {}, head), body));
  place.append(frame);
  fill();
}
