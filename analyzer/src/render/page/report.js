// What the page can do beyond plain HTML: sort and filter tables, tooltips at once and by keyboard. Nothing that it
// shows needs this script.
(() => {
  "use strict";

  const units = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12,
    kFLOP: 1e3, MFLOP: 1e6, GFLOP: 1e9, TFLOP: 1e12, PFLOP: 1e15, EFLOP: 1e18 };  // each also per second

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text) element.textContent = text;
    return element;
  }

  // "1.5 ms" as a number of ns; what is not a number is text, and what is missing comes last.
  function keyOf(cell) {
    const text = cell ? cell.textContent.trim() : "";
    const match = /^[<+]?\s*([-−]?[\d.]+)\s*(\S*)/.exec(text);
    if (!match) return { missing: text === "" || text === "–", text };
    return { number: Number(match[1].replace("−", "-")) * (units[match[2].replace(/\/s$/, "")] || 1), text };
  }

  function compare(a, b, sign) {
    if (a.missing || b.missing) return (a.missing ? 1 : 0) - (b.missing ? 1 : 0);
    if (a.number !== undefined && b.number !== undefined) return sign * (a.number - b.number);
    return sign * a.text.localeCompare(b.text);
  }

  function sortBy(table, column, heading) {
    const ascending = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map(row => ({ row, key: keyOf(row.cells[column]) }));
    rows.sort((a, b) => compare(a.key, b.key, ascending ? 1 : -1));
    table.tBodies[0].append(...rows.map(entry => entry.row));
  }

  function addSorting(table) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = make("button", "", heading.textContent);
      button.type = "button";
      button.addEventListener("click", () => sortBy(table, column, heading));
      heading.replaceChildren(button);
    });
  }

  function addFilter(table) {
    const label = make("label", "filter", "Show only rows that contain");
    const input = make("input");
    input.type = "search";
    label.append(input);
    table.closest(".scroll").before(label);
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  }

  for (const table of document.querySelectorAll("table.data")) {
    const rows = table.tBodies[0].rows.length;
    if (rows > 1) addSorting(table);
    if (rows > 10) addFilter(table);
  }

  const tooltip = make("div", "tooltip");
  tooltip.setAttribute("role", "status");
  tooltip.hidden = true;
  document.body.append(tooltip);
  const words = new Map();  // of each mark
  let current = null;

  function hide() {
    if (current) current.classList.remove("current");
    current = null;
    tooltip.hidden = true;
  }

  function show(mark, x, y) {
    if (current) current.classList.remove("current");
    current = mark;
    mark.classList.add("current");
    tooltip.textContent = words.get(mark);
    tooltip.hidden = false;
    const left = Math.min(x + 12, document.documentElement.clientWidth - tooltip.offsetWidth - 8);
    const above = y - tooltip.offsetHeight - 12;
    tooltip.style.left = `${Math.max(8, left)}px`;
    tooltip.style.top = `${above < 8 ? y + 16 : above}px`;
  }

  function showByKey(marks, index) {
    const mark = marks[Math.max(0, Math.min(marks.length - 1, index))];
    mark.scrollIntoView({ block: "nearest", inline: "nearest" });
    const place = mark.getBoundingClientRect();
    show(mark, place.left + place.width / 2, place.top);
  }

  // Titles are taken out of the tree, so that the browser's own late tooltips do not come on top of ours.
  function addTooltips(chart) {
    const title = chart.querySelector(":scope > title");
    chart.setAttribute("aria-label", `${title.textContent}. Use the arrow keys to read its marks.`);
    chart.setAttribute("aria-describedby", chart.querySelector(":scope > desc").id);
    chart.removeAttribute("aria-labelledby");
    title.remove();
    const marks = [...chart.querySelectorAll(".mark")];
    for (const mark of marks) {
      const own = mark.querySelector("title");
      words.set(mark, own.textContent);
      own.remove();
    }
    chart.addEventListener("pointermove", event => {
      const mark = event.target.closest(".mark");
      if (mark) show(mark, event.clientX, event.clientY);
      else hide();
    });
    chart.addEventListener("pointerleave", hide);
    chart.addEventListener("blur", hide);
    if (marks.length === 0) return;
    chart.tabIndex = 0;
    chart.addEventListener("keydown", event => {
      const now = marks.indexOf(current);
      const next = { ArrowRight: now + 1, ArrowLeft: now < 0 ? 0 : now - 1, Home: 0, End: marks.length - 1 }[event.key];
      if (event.key === "Escape") hide();
      if (next === undefined) return;
      event.preventDefault();
      showByKey(marks, next);
    });
  }

  document.querySelectorAll("svg.chart").forEach(addTooltips);
  window.addEventListener("scroll", () => { if (current && !current.closest("svg").matches(":focus")) hide(); });

  // Only what really scrolls is a stop of the Tab key.
  function markScrolling() {
    for (const part of document.querySelectorAll(".scroll")) {
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  }
  markScrolling();
  window.addEventListener("resize", markScrolling);
  document.addEventListener("toggle", markScrolling, true);
})();
