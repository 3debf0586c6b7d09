"use strict";
// Sorting and filtering of tables. Cells are read as numbers up to their interval; text sorts as text.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => {
    const text = row.cells[column].textContent.trim();
    const number = Number.parseFloat(text.replaceAll(",", ""));
    return Number.isNaN(number) ? text : number;
  };
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort(([a], [b]) => {
        if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
        const order = typeof a === "number" ? a - b : a.localeCompare(b);
        return ascending ? order : -order;
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
}
// Records behind a cell. Everything is set as text: answers are by models and are no markup.
const data = JSON.parse(document.getElementById("records-data").textContent);
const dialog = document.getElementById("records");
const element = (name, text, ...children) => {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  made.append(...children);
  return made;
};
const listed = (title, texts) =>
  texts.length ? [element("dt", title), element("dd", null, element("ul", null, ...texts.map((text) => element("li", text))))] : [];
function shown(record) {
  const item = data.items[record.item];
  const facts = document.createElement("dl");
  facts.className = "facts";
  facts.append(element("dt", "Prompt"), element("dd", null, element("pre", item.prompt)));
  if (item.options) {
    const likelihoods = record.options || {};
    const highest = Math.max(...Object.values(likelihoods));
    const options = item.options.map((option, i) => {
      const value = likelihoods[i];
      const marks = `${i === item.gold ? " (right)" : ""}${value === highest ? " (most probable)" : ""}`;
      return `${option}${marks}${value === undefined ? "" : `: log-likelihood ${value}`}`;
    });
    facts.append(...listed("Options", options));
  } else {
    facts.append(element("dt", "Reference"), element("dd", null, element("pre", item.reference)));
    facts.append(...listed("Must have", item.must_have), ...listed("Nice to have", item.nice_to_have));
  }
  if (record.answer !== undefined) {
    const ending = record.finish === "length" ? " (cut at the token limit)" : "";
    facts.append(element("dt", `Answer${ending}`), element("dd", null, element("pre", record.answer || "(empty)")));
  }
  for (const [title, entities] of Object.entries(record.entities || {})) facts.append(...listed(title, entities));
  const values = Object.entries(record.values || {}).map(([metric, value]) => `${metric}: ${value}`);
  facts.append(...listed("Scores", values), ...listed("Flags", record.flags || []));
  return element("section", null, element("h3", record.item), facts);
}
function open(key) {
  const [model, benchmark] = key.split("\t");
  const records = data.records.filter((record) => record.model === model && data.items[record.item].benchmark === benchmark);
  if (!records.length) return;
  document.getElementById("records-title").textContent = `${model}, ${benchmark}: ${records.length} of its records`;
  document.getElementById("records-body").replaceChildren(...records.map(shown));
  if (!dialog.open) dialog.showModal();
  history.replaceState(null, "", `#records=${encodeURIComponent(key)}`);
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-records]");
  if (button) open(button.dataset.records);
});
dialog.addEventListener("close", () => history.replaceState(null, "", "#tables"));
if (location.hash.startsWith("#records=")) open(decodeURIComponent(location.hash.slice(9)));
for (const input of document.querySelectorAll(".filter input")) {
  const table = document.getElementById(input.dataset.table);
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
}
