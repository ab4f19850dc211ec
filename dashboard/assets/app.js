// Keys, live updates, and texts that are fetched when they are opened. Without it everything can be
// done by links and buttons as well.
"use strict";

const cards = () => [...document.querySelectorAll("main .card")];

/** Moves the focus by a number of cards. */
function move(by) {
  const all = cards();
  if (all.length === 0) return;
  const at = all.indexOf(document.activeElement.closest(".card"));
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1);
  all[next].focus();
  all[next].scrollIntoView({ block: "nearest" });
}

/** Presses what has a key: in the card that has the focus, or else outside of all cards. */
function press(key) {
  const card = document.activeElement.closest(".card");
  const wanted = `[data-key="${CSS.escape(key)}"]`;
  const found = card?.querySelector(wanted)
    ?? [...document.querySelectorAll(wanted)].find((one) => !one.closest(".card"));
  if (!found) return false;
  if (card) sessionStorage.setItem("card", String(cards().indexOf(card)));
  if (found.matches("input")) found.focus();
  else found.click();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const done = () => event.preventDefault();
  switch (event.key) {
    case "j": case "ArrowDown": if (cards().length > 0) { done(); move(1); } break;
    case "k": case "ArrowUp": if (cards().length > 0) { done(); move(-1); } break;
    case "?": {
      const keys = document.getElementById("keys");
      keys.open = !keys.open;
      if (keys.open) keys.scrollIntoView();
      done();
      break;
    }
    default: if (event.key.length === 1 && press(event.key)) done();
  }
});

// After a change the page is loaded again. The focus goes to the card that is now in that place.
const before = sessionStorage.getItem("card");
sessionStorage.removeItem("card");
if (before !== null && document.querySelector(".said p")) {
  const all = cards();
  all[Math.min(Number(before), all.length - 1)]?.focus();
}

// Who opens a form goes on to write.
const field = document.querySelector("form.edit textarea")
  ?? document.querySelector("form.edit input:not([type=hidden])");
if (field) {
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}

document.querySelectorAll("[data-submits]").forEach((select) => {
  select.addEventListener("change", () => select.form.submit());
});

// Texts that were fetched, by what they belong to.
const texts = new Map();

async function fill(details) {
  const id = details.dataset.id;
  const place = details.querySelector(".given");
  if (!texts.has(id)) {
    try {
      const reply = await fetch(details.dataset.source, { credentials: "same-origin" });
      if (!reply.ok) throw new Error(`status ${reply.status}`);
      texts.set(id, await reply.text());
    } catch (error) {
      place.textContent = `The text cannot be fetched: ${error.message}`;
      return;
    }
  }
  place.innerHTML = texts.get(id);
}

document.addEventListener("toggle", (event) => {
  if (event.target.open && event.target.dataset?.source) fill(event.target);
}, true);

/** Shows new lanes. What was open stays open, and the focus stays where it was. */
function show(live, html) {
  const open = [...live.querySelectorAll("details[open]")].map((one) => one.dataset.id);
  const focus = document.activeElement.closest("[data-id]")?.dataset.id;
  live.innerHTML = html;
  for (const id of open) {
    const details = live.querySelector(`details[data-id="${CSS.escape(id)}"]`);
    if (details) details.open = true;
  }
  const again = focus && live.querySelector(`[data-id="${CSS.escape(focus)}"]`);
  if (again) again.querySelector("summary, a, button")?.focus();
}

const live = document.querySelector("[data-events]");
if (live) {
  const source = new EventSource(live.dataset.events);
  source.addEventListener("now", (event) => show(live, event.data));
  source.addEventListener("error", () => document.body.classList.add("offline"));
  source.addEventListener("open", () => document.body.classList.remove("offline"));
}
