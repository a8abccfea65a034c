// The page. What it shows comes from commands that may be hostile: it is only ever text, never markup.
"use strict";

const SHOWN_AT_FIRST = 50;
// A card that has just appeared cannot be answered by a key that was meant for another.
const SETTLES_MS = 600;
// What has moved by more than this was not under the mouse before.
const MOVED_PX = 8;
// Keys are not taken for so long after somebody has typed into a field: what takes the field away does not take the rest of a sentence
// for answers.
const TYPED_MS = 1500;
// An answer that is not heard within this time is given up. The host takes none that was pressed longer ago, either.
const ANSWER_MS = 6000;
// What is longer is shown without marks.
const MARKED = 20000;
// So long without a word, and the host is away.
const SILENCE_MS = 16000;
const KEPT_OVER = 5;
// A browser opens six connections to one address, for all tabs together, and a live page keeps one.
const LIVE_TABS = 4;

const $ = (id) => document.getElementById(id);
const cards = new Map();
let order = [];
let selected = null;
let limit = SHOWN_AT_FIRST;
let skew = 0;
let heardAt = 0;
let isIn = false;
let isListening = false;
let typedAt = 0;
let view = "held";
// When what can be pressed took another place on the screen last; and whether that is being looked at.
let movedAt = new Map();
let isMoving = false;
// When the cards last took another order, and when one was last chosen by a key.
let reorderedAt = 0;
let movedToAt = 0;
// A button of the mouse is down, or a finger: what it is on stays until it is up.
let isPressing = false;
// The desk that this is the page of; null at a host.
let desk = null;

function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const OVER = "This session is over. Ask for a new link, and open it here:";

const CUT_OFF = "The desk does not reach its fleet. Each host can be answered at itself; what nobody answers lapses to a denial.";

const key = () => localStorage.getItem("bashgate-key") || "";

// Whoever has taken the host's place at this address is told no secret: the host shows first that it knows the session.
async function isTheHost() {
  const [session, secret] = [localStorage.getItem("bashgate-session") || "", key()];
  const nonce = [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const response = await fetch(`/api/proof?session=${session}&nonce=${nonce}`, { credentials: "omit", cache: "no-store" });
  if (response.status === 404) return null;
  const { proof } = await response.json();
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${secret}:${nonce}:${location.host}:${secret}`));
  return proof === [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function ask(path, body) {
  const options = { headers: { "x-bashgate-key": key() }, credentials: "same-origin", signal: AbortSignal.timeout(body && body.at ? ANSWER_MS : 60000) };
  if (body !== undefined) {
    options.method = "POST";
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  if (response.status === 401) {
    lock();
    throw new Error("The session is over.");
  }
  return response;
}

async function asked(path, body) {
  const answer = await (await ask(path, body)).json();
  if (answer.error) throw new Error(answer.error);
  return answer;
}

let saying;
function say(text) {
  $("said").textContent = text;
  clearTimeout(saying);
  saying = setTimeout(() => ($("said").textContent = ""), 8000);
}

function lock(why) {
  isIn = false;
  localStorage.removeItem("bashgate-key");
  cards.clear();
  order = [];
  draw();
  if (why) $("locked-why").textContent = why;
  show("locked");
  state("Locked", true);
}

function state(text, away = false) {
  if ($("state").textContent !== text) $("state").textContent = text;
  $("state").classList.toggle("away", away);
  document.body.toggleAttribute("data-away", away);
}

function show(name) {
  for (const section of document.querySelectorAll("main > section")) section.hidden = section.id !== name;
  for (const button of document.querySelectorAll("nav button")) {
    if (button.dataset.view === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
    button.disabled = name === "locked";
  }
  if (name !== "locked") view = name;
}

// What comes in.

async function listen() {
  if (isListening) return;
  isListening = true;
  try {
    await inTurn(hear);
  } finally {
    isListening = false;
  }
}

// Does it in one of few tabs at a time.
async function inTurn(act) {
  if (!navigator.locks) return act();
  const places = Array.from({ length: LIVE_TABS }, (_, place) => `bashgate-live-${place}`);
  for (const place of places) {
    const had = await navigator.locks.request(place, { ifAvailable: true }, async (lock) => {
      if (lock) await act();
      return Boolean(lock);
    });
    if (had) return;
  }
  state(`${LIVE_TABS} tabs of this page are live already: look there, or close one.`, true);
  const found = new AbortController();
  await Promise.any(places.map((place) => navigator.locks.request(place, { signal: found.signal }, async () => {
    if (found.signal.aborted) return;
    found.abort();
    await act();
  })));
}

async function hear() {
  let pause = 500;
  for (;;) {
    if (!key()) {
      // Another tab of this browser has found out first.
      lock(isIn ? OVER : undefined);
      return;
    }
    const hangUp = new AbortController();
    const watch = setInterval(() => {
      if (heardAt && Date.now() - heardAt > SILENCE_MS) hangUp.abort();
    }, 1000);
    try {
      const known = await isTheHost();
      if (known === null) {
        lock(OVER);
        return;
      }
      if (!known) throw new TypeError("fetch: somebody else is at the host's address");
      const response = await fetch("/api/live", { headers: { "x-bashgate-key": key() }, credentials: "same-origin", signal: hangUp.signal });
      if (response.status === 401) {
        lock(OVER);
        return;
      }
      if (!response.ok) throw new Error(String(response.status));
      if (!isIn) {
        isIn = true;
        show(view);
        fillWorkspaces();
      }
      pause = 500;
      let rest = "";
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        rest += decoder.decode(value, { stream: true });
        const lines = rest.split("\n");
        rest = lines.pop();
        for (const line of lines) take(JSON.parse(line));
      }
    } catch (error) {
      // It is tried again.
      if (!(error instanceof TypeError && /fetch|network/i.test(error.message)) && error.name !== "AbortError") console.error(error);
    } finally {
      clearInterval(watch);
    }
    heardAt = 0;
    state(`The ${desk ? "desk" : "host"} does not answer. Held commands lapse to a denial.`, true);
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 10000);
  }
}

function take(news) {
  heardAt = Date.now();
  skew = news.now - heardAt;
  desk = news.desk;
  const isCutOff = Boolean(desk && !desk.reaches);
  state(isCutOff ? CUT_OFF : "Live", isCutOff);
  document.body.toggleAttribute("data-desk", Boolean(desk));
  if (desk) $("desk-name").textContent = desk.name;
  if (news.whole) {
    for (const card of cards.values()) card.stale = true;
  }
  for (const card of news.cards) {
    const before = cards.get(card.id);
    if (card.over && !before) continue;
    // What has changed is looked at anew before a key counts.
    cards.set(card.id, { ...card, since: Infinity, all: false, element: before && before.element });
  }
  for (const id of news.gone) cards.delete(id);
  drawAhead(news.ahead);
  if (news.whole) {
    for (const [id, card] of cards) if (card.stale) cards.delete(id);
  }
  draw();
}

// What is held.

function draw() {
  const all = [...cards.values()];
  const open = all.filter((card) => !card.over).sort((a, b) => a.until - b.until);
  const over = all.filter((card) => card.over);
  for (const card of over.slice(0, Math.max(0, over.length - KEPT_OVER))) {
    cards.delete(card.id);
    card.element?.remove();
  }
  const before = order;
  order = [...over.slice(-KEPT_OVER), ...open].map((card) => card.id);
  const [had, has] = [new Set(before), new Set(order)];
  const [was, is] = [before.filter((id) => has.has(id)), order.filter((id) => had.has(id))];
  if (was.some((id, at) => id !== is[at])) reorderedAt = Date.now();
  $("count").textContent = String(open.length);
  $("count").classList.toggle("some", open.length > 0);
  document.title = open.length ? `(${open.length}) bashgate` : "bashgate";
  $("none").hidden = order.length > 0;
  if (!cards.has(selected)) selected = null;
  const shown = order.slice(0, limit);
  const list = $("cards");
  const places = placesNow();
  const wanted = new Set(shown);
  for (const item of [...list.children]) if (!wanted.has(item.dataset.id) && !isTypedIn(item)) item.remove();
  // What is drawn anew takes the place of what was there before.
  const items = shown.map((id) => drawn(cards.get(id)));
  let place = list.firstElementChild;
  // To move where somebody types would take the words from them.
  const isTyped = [...list.children].some(isTypedIn);
  for (const item of items) {
    if (isTyped) {
      if (item.parentNode !== list) list.append(item);
    } else if (item === place) place = place.nextElementSibling;
    else list.insertBefore(item, place);
  }
  looksWhatMoved(places);
  // What is drawn is seen from the next picture on.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    for (const card of cards.values()) {
      if (card.since !== Infinity || !card.element?.isConnected) continue;
      if (card.element.dataset.version === pictureOf(card)) card.since = Date.now();
    }
  }));
  $("more-cards").hidden = order.length <= limit;
  $("more-cards").textContent = `Show more (${order.length - limit} are not shown)`;
  tick();
}

// Where on the screen what can be pressed stands: a card by its id, since it is drawn anew.
const placeOf = (item) => item.dataset.id ?? item;
const placesNow = () => new Map([...document.querySelectorAll(".card, #denials > li")].map((item) => [placeOf(item), item.getBoundingClientRect().top]));

// What was elsewhere a moment ago is not what the mouse was going to. Where it is the browser says with the next picture, when it has
// scrolled as it does by itself.
function looksWhatMoved(before) {
  isMoving = true;
  requestAnimationFrame(() => {
    isMoving = false;
    const moved = new Map();
    for (const [place, top] of placesNow()) {
      const isElsewhere = before.has(place) && Math.abs(before.get(place) - top) > MOVED_PX;
      const at = isElsewhere ? Date.now() : movedAt.get(place);
      if (at) moved.set(place, at);
    }
    movedAt = moved;
  });
}

const hasMoved = (item) => isMoving || Date.now() - (movedAt.get(placeOf(item)) ?? 0) < SETTLES_MS;
const MOVED = "It has only just moved: look again, then press.";

// What runs without being asked about, for everybody to see and to end.
function drawAhead(all) {
  const list = $("ahead");
  const version = JSON.stringify(all);
  if (list.dataset.version === version) return;
  list.dataset.version = version;
  list.hidden = all.length === 0;
  list.replaceChildren(...all.map((one) => {
    const end = el("button", { type: "button", className: "deny" }, "End it");
    end.setAttribute("aria-label", `End it: ${one.id}, in workspace ${one.workspace}`);
    end.addEventListener("click", () => tell(`deny ${one.id}`));
    return el("li", {}, el("span", {}, one.words), end);
  }));
}

// What of a card is on the screen where it is drawn.
const pictureOf = (card) => JSON.stringify([card.workspace, card.agent, card.taint, card.head, card.command, card.about, card.over, card.waiting, card.all, card.session, card.grant, card.first]);

function drawn(card) {
  const version = pictureOf(card);
  const old = card.element;
  if (old && old.dataset.version === version) return old;
  // Where somebody types nothing changes under their hands; it is drawn anew when they leave.
  if (old && (isTypedIn(old) || isPressing)) return old;
  const had = old && old.contains(document.activeElement);
  // However long it is known: nobody has seen it yet.
  card.since = Infinity;
  const item = el("li", { className: "card", tabIndex: -1 });
  item.dataset.id = card.id;
  item.dataset.version = version;
  item.addEventListener("focusin", () => select(card.id, false));
  item.classList.toggle("over", Boolean(card.over));
  const top = el("div", { className: "top" }, el("h3", { id: `title-${card.id}` }, `Workspace ${card.workspace}`));
  if (card.agent) top.append(el("span", {}, card.agent));
  top.append(el("span", { className: `tag ${card.taint}` }, `taint ${card.taint}`));
  if (card.waiting > 1) top.append(el("span", { className: "tag" }, `${card.waiting} wait`));
  top.append(el("span", { className: "left" }));
  item.append(top, el("p", { className: "head" }, card.head), command(card.command));
  if (card.about) item.append(el("pre", { className: "about", tabIndex: -1 }, card.about));
  item.append(card.over ? el("p", { className: "verdict" }, card.over) : acts(card));
  card.element = item;
  // What was typed stays.
  const fields = (element) => [...(element?.querySelectorAll(".acts > input, .grant:not(.rule) input") ?? [])];
  const [before, after] = [fields(old), fields(item)];
  if (before.length === after.length) after.forEach((field, at) => (field.value = before[at].value));
  const grant = item.querySelector(".grant:not(.rule)");
  if (grant) grant.open = Boolean(old?.querySelector(".grant:not(.rule)")?.open);
  if (old && old.parentNode) old.replaceWith(item);
  if (card.id === selected) mark();
  if (had) item.focus({ preventScroll: true });
  return item;
}

function isTypedIn(item) {
  return item.contains(document.activeElement) && document.activeElement.tagName === "INPUT";
}

function acts(card) {
  const box = el("div", { className: "acts" });
  const button = (label, letter, className, act) => {
    const made = el("button", { type: "button", className }, label, el("kbd", { ariaHidden: "true" }, letter));
    made.addEventListener("click", act);
    made.setAttribute("aria-describedby", `title-${card.id}`);
    box.append(made);
  };
  const clicked = (what) => {
    if (hasMoved(box.closest(".card"))) say(MOVED);
    else answer(card.id, what);
  };
  button("Approve once", "a", "approve", () => clicked("approve"));
  if (card.session && !card.folded) button("Approve until the taint changes", "s", "", () => clicked("session"));
  button("Deny", "d", "deny", () => answer(card.id, "deny", box.querySelector("input.reason").value));
  if (card.folded && !card.all) button("Show all of it", "o", "", () => unfold(card.id));
  if (desk) box.append(coding(card));
  const reason = el("input", { type: "text", maxLength: 400, placeholder: "Reason for a denial (r)", className: "reason" });
  reason.setAttribute("aria-label", `Reason for a denial of ${card.id}`);
  reason.addEventListener("blur", () => setTimeout(draw));
  reason.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") answer(card.id, "deny", reason.value);
    if (event.key === "Escape" || event.key === "Enter") reason.closest("li").focus();
  });
  box.append(reason);
  if (card.two_people) {
    box.append(el("span", { className: "quiet" }, card.first ? `${card.first} said yes; another person must, too.` : "Two people must say yes."));
  }
  if (card.grant && !card.folded) box.append(granting(card));
  // Rules are a host's own.
  if (!desk) box.append(ruling(card));
  if (card.session && !card.folded) {
    const later = "Until the taint changes: this text, in this folder, by this agent, with these files as they are.";
    box.append(el("span", { className: "quiet" }, card.git ? `${later} The same push then sends what is committed later, too.` : later));
  }
  return box;
}

// What a host hears of a desk may take a one-time code; the host says so, and which.
function coding(card) {
  const code = el("input", { type: "text", maxLength: 9, autocomplete: "off", inputMode: "numeric", placeholder: "Code", className: "code" });
  code.setAttribute("aria-label", `One-time code for ${card.id}, where its host asks for one`);
  code.addEventListener("blur", () => setTimeout(draw));
  code.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape" || event.key === "Enter") code.closest("li").focus();
  });
  return code;
}

// A grant lets others run: it takes a code, which is asked for when it is first tried.
function granting(card) {
  const field = (label, settings) => {
    const input = el("input", settings);
    return [el("label", {}, label, input), input];
  };
  const [minutesLabel, minutes] = field("Minutes ", { type: "number", min: 1, max: 60, value: 30, required: true });
  const [codeLabel, code] = field("Code ", { type: "text", maxLength: 9, autocomplete: "off", inputMode: "numeric" });
  const form = el("form", {}, minutesLabel, codeLabel, el("button", { type: "submit" }, "Grant"));
  for (const input of [minutes, code]) input.addEventListener("blur", () => setTimeout(draw));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer(card.id, "grant", `${minutes.value} ${code.value}`.trim());
  });
  return el("details", { className: "grant" }, el("summary", {}, "Let others of its kind run, too, for a while"),
    el("span", { className: "quiet" }, `${card.grant}. Until its time is over, or the taint changes. It takes a one-time code, and you are told which.`), form);
}

// A rule lets the same run from the next start of the host on: it is drafted and saved there, and takes a code, too.
function ruling(card) {
  const drafted = el("div", {});
  const box = el("details", { className: "grant rule" }, el("summary", {}, "A rule for the future"), drafted);
  box.addEventListener("toggle", async () => {
    if (!box.open || drafted.childElementCount) return;
    drafted.replaceChildren("Looking through the record…");
    try {
      const rule = await asked(`/api/rule?id=${encodeURIComponent(card.id)}`);
      const before = rule.covered.count
        ? `On record it matches ${rule.covered.count} commands; of these the inspector would not be asked any more:`
        : "Nothing on record matches it.";
      const others = el("ul", { className: "steps" }, ...rule.covered.commands.map((one) => el("li", {}, `${one.times} × ${one.outcome}: `, el("code", {}, one.what))));
      if (rule.covered.more) others.append(el("li", {}, `and ${rule.covered.more} more`));
      const code = el("input", { type: "text", maxLength: 9, autocomplete: "off", inputMode: "numeric" });
      code.addEventListener("blur", () => setTimeout(draw));
      const form = el("form", {}, el("label", {}, "Code ", code), el("button", { type: "submit" }, "Save the rule"));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        post("/api/rule", { id: card.id, digest: rule.digest, code: code.value.trim() });
      });
      const text = el("pre", { tabIndex: 0 }, rule.text);
      text.setAttribute("aria-label", "The rule");
      drafted.replaceChildren(text, el("p", { className: "quiet" }, rule.reach), el("p", {}, before), others, form,
        el("p", { className: "quiet" }, "It is written into bashgate.toml and counts when the host is started again. It takes a one-time code, and you are told which. This card stays as it is."));
    } catch (error) {
      drafted.replaceChildren(String(error.message || error));
    }
  });
  return box;
}

// What the inspector denied. All of it is shown before it can be overruled.
async function listDenied() {
  try {
    const { denied } = await asked("/api/denied");
    $("denials-none").textContent = denied.length ? "" : "Nothing was denied in the last ten minutes.";
    $("denials").replaceChildren(...denied.map((one) => el("li", {}, denial(one))));
  } catch (error) {
    $("denials-none").textContent = String(error.message || error);
  }
}

function denial(one) {
  const inside = el("div", {});
  const box = el("details", {}, el("summary", {}, `${one.workspace}: ${one.what}`), inside);
  box.addEventListener("toggle", async () => {
    if (!box.open || inside.childElementCount) return;
    try {
      const shown = await asked(`/api/show?id=${encodeURIComponent(one.id)}`);
      if (!shown.ok) return inside.replaceChildren(el("p", {}, shown.text));
      const text = el("pre", { className: "about", tabIndex: 0 }, shown.text);
      text.setAttribute("aria-label", `All about ${one.id}`);
      const overrule = el("button", { type: "button", className: "approve" }, "Let it run once");
      overrule.addEventListener("click", () => (hasMoved(box.closest("li")) ? say(MOVED) : tell(`approve ${one.id}`).then(listDenied)));
      inside.replaceChildren(text, el("div", { className: "acts" }, overrule, ruling(one)));
    } catch (error) {
      inside.replaceChildren(String(error.message || error));
    }
  });
  return box;
}

// A command with its gutter, behind which no line that is too long for the window reaches back. Words are marked for reading only; what they are is decided by the host.
function command(text) {
  const box = el("pre", { tabIndex: 0 });
  box.setAttribute("aria-label", "The command");
  const code = el("code");
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const row = el("span", { className: "line" });
    const [, gutter, rest] = /^(\s*\d* ?[|:] )?([^]*)$/.exec(line);
    if (gutter) row.append(el("span", { className: "gutter" }, gutter));
    const pieces = text.length > MARKED ? [[rest]] : rest.matchAll(/('[^']*'|"[^"\\]*(?:\\.[^"\\]*)*")|((?:^|\s)#.*$)|([\w.+:/@%?=&~,-]+)|(\|\|?|&&?|;|>>?|<<?<?|\$\(|`)|([\s\S])/g);
    for (const piece of pieces) {
      const [whole, string, note, word, sign] = piece;
      const address = word && (word.includes("://") || /^[^:/]+@[^:/]+:/.test(word));
      const kind = string ? "string" : note ? "note" : address || sign ? "mark" : "";
      row.append(kind ? el("span", { className: kind }, whole) : whole);
    }
    code.append(row);
  }
  box.append(code);
  return box;
}

function tick() {
  for (const id of order.slice(0, limit)) {
    const card = cards.get(id);
    const left = card?.element?.querySelector(".left");
    if (!left) continue;
    const seconds = Math.max(0, Math.round((card.until - skew - Date.now()) / 1000));
    left.textContent = card.over ? card.id : `${card.id} · denied in ${seconds} s if nobody answers`;
    left.classList.toggle("soon", !card.over && seconds < 60);
  }
}

function mark() {
  for (const item of $("cards").children) {
    if (item.dataset.id === selected) item.setAttribute("aria-current", "true");
    else item.removeAttribute("aria-current");
  }
}

function select(id, focus = true) {
  selected = id;
  mark();
  if (focus) {
    const item = cards.get(id)?.element;
    item?.focus();
    item?.scrollIntoView({ block: "nearest" });
  }
}

function move(by) {
  const shown = order.slice(0, limit);
  if (!shown.length) return;
  const at = shown.indexOf(selected);
  movedToAt = Date.now();
  select(shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by))]);
}

// Where the order has just changed, the next card is not the one that stood there.
function byKey(what) {
  const isRecent = (at) => Date.now() - at < SETTLES_MS;
  if (isRecent(reorderedAt) && isRecent(movedToAt)) return say(MOVED);
  return answer(selected, what);
}

async function answer(id, what, reason = "") {
  const card = cards.get(id);
  if (!card) return;
  if (card.over) return say(`It is over: ${card.over}`);
  if (document.body.hasAttribute("data-away")) return say("Nobody answers; nothing was sent.");
  // Where somebody types, what was there before is still on the screen.
  if (what !== "deny" && card.element?.dataset.version !== pictureOf(card)) return say("The card has changed: leave the field and look at it, then press again.");
  const isReasoned = what === "deny" && reason !== "";
  if (!isReasoned && Date.now() - card.since < SETTLES_MS) return say("The card has only just changed: look at it, then press again.");
  if (what === "session" && (!card.session || card.folded) || what === "grant" && (!card.grant || card.folded)) return;
  const place = card.element?.querySelector(".acts")?.getBoundingClientRect();
  if (what !== "deny" && place && (place.bottom > innerHeight + 8 || place.top < 0)) {
    card.element.querySelector(".acts").scrollIntoView({ block: "end" });
    return say("Not all of the card was on the screen: read it to its end, then press again.");
  }
  const code = (card.element?.querySelector("input.code")?.value ?? "").trim();
  // Nothing else that stands there widens what is approved.
  if (what !== "deny" && code && !/^\d{4}[ -]?\d{4}$/.test(code)) return say("A one-time code has eight digits.");
  say(what === "deny" ? "Denying…" : "Approving…");
  const words = { approve: `approve ${id} ${code}`.trim(), session: `approve ${id} session ${code}`.trim(), grant: `approve ${id} grant ${reason}`, deny: `deny ${id} ${reason}`.trim() }[what];
  await tell(words, card.version);
}

async function tell(words, version) {
  await post("/api/say", { words, version });
}

async function post(path, said) {
  if (document.body.hasAttribute("data-away")) return say("Nobody answers; nothing was sent.");
  try {
    say((await asked(path, { ...said, at: Date.now() + skew })).text);
  } catch (error) {
    say(String(error.message || error));
  }
}

async function unfold(id) {
  try {
    const whole = await asked(`/api/card?id=${encodeURIComponent(id)}`);
    const card = cards.get(id);
    if (card && card.version === whole.version) Object.assign(card, { command: whole.command, about: whole.about, all: true });
    draw();
  } catch (error) {
    say(String(error.message || error));
  }
}

addEventListener("pointerdown", () => (isPressing = true), true);
for (const ends of ["pointerup", "pointercancel", "blur"]) {
  addEventListener(ends, (event) => {
    // A field that loses the focus ends no press.
    if (event.type === "blur" && event.target !== window) return;
    isPressing = false;
    // Behind the click.
    setTimeout(draw);
  }, true);
}

document.addEventListener("keydown", (event) => {
  if (view !== "held" || !isIn) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
    typedAt = event.key === "Escape" || event.key === "Enter" ? 0 : Date.now();
    return;
  }
  if (Date.now() - typedAt < TYPED_MS) return event.preventDefault();
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  const card = cards.get(selected);
  const does = {
    j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
    a: () => card && byKey("approve"), s: () => card && byKey("session"), d: () => card && answer(selected, "deny"),
    o: () => card && card.folded && unfold(selected), r: () => card?.element?.querySelector("input.reason")?.focus(),
  }[event.key];
  if (does) {
    event.preventDefault();
    does();
  }
});

// What was.

let foundBefore = 0;
async function find(before) {
  const wanted = new URLSearchParams(new FormData($("search")));
  if (before) wanted.set("before", before);
  else $("rows").replaceChildren();
  try {
    const found = await asked(`/api/history?${wanted}`);
    for (const row of found.rows) $("rows").append(historyRow(row));
    foundBefore = found.before;
    $("older").hidden = !found.before;
    $("found").textContent = `${$("rows").children.length} found${found.before ? ` down to record ${found.before}` : "; there are no more"}.`;
  } catch (error) {
    $("found").textContent = String(error.message || error);
  }
}

function historyRow(row) {
  const what = el("td", { className: "what" }, row.what);
  if (row.why) what.append(el("span", { className: "why" }, row.why));
  return el("tr", {}, el("td", { className: "when" }, clock(row.at)), el("td", {}, row.workspace), el("td", {}, row.outcome), el("td", {}, row.by), what);
}

async function fillWorkspaces() {
  try {
    const listed = await asked("/api/workspaces");
    const names = (listed.data || []).map((one) => one.name || one.workspace || one);
    for (const select of [$("search").elements.workspace, $("whose")]) {
      const kept = select.value;
      for (const option of [...select.options]) if (option.value) option.remove();
      for (const name of names) select.append(el("option", { value: name }, name));
      if (names.includes(kept)) select.value = kept;
    }
  } catch {
    // The lists stay as they are.
  }
}

async function drawTaintView() {
  const workspace = $("whose").value;
  if (!workspace) return;
  const data = await asked(`/api/taint?workspace=${encodeURIComponent(workspace)}`);
  $("taint-picture").replaceChildren(drawTaint(data.steps, Date.now() + skew));
  const steps = data.steps.map((step) => el("li", {}, `${clock(step.at)} `, el("span", { className: `tag ${step.taint}` }, step.taint), ` ${step.why}`));
  $("taint-steps").replaceChildren(...steps.reverse());
}

function long(us) {
  if (us === undefined || us === null) return "–";
  if (us < 1000) return `${us} µs`;
  return us < 1e6 ? `${(us / 1000).toFixed(1)} ms` : `${(us / 1e6).toFixed(1)} s`;
}

async function drawNumbersView() {
  const data = await asked(`/api/numbers?hours=${$("hours").value}`);
  const { picture, legend } = drawNumbers(data);
  $("numbers-picture").replaceChildren(picture);
  $("legend").replaceChildren(...legend.map((one) => el("li", {}, one.mark, ` ${one.name}: ${one.count}`)));
  $("took").replaceChildren(
    ...Object.entries(data.took).map(([who, took]) =>
      el("tr", {}, el("th", { scope: "row" }, who), el("td", { className: "number" }, String(took.count)), el("td", { className: "number" }, long(took.median_us)), el("td", { className: "number" }, long(took.p95_us))),
    ),
  );
  $("numbers-note").textContent = data.whole ? "" : "Only the newest records were counted.";
}

async function verify() {
  $("verified").textContent = "Following the chain…";
  try {
    const data = await asked("/api/verify", {});
    $("verified").textContent = data.whole
      ? `${data.records - data.pruned} records, none changed, missing or moved.${data.pruned ? ` The first ${data.pruned} were pruned; the host's key has signed where.` : ""} Head: ${data.head}`
      : `Not whole: ${data.why}`;
  } catch (error) {
    $("verified").textContent = String(error.message || error);
  }
}

const opens = { history: () => find(), taint: drawTaintView, numbers: drawNumbersView };

async function open(name) {
  show(name);
  try {
    if (name === "history" || name === "taint") await fillWorkspaces();
    await opens[name]?.();
  } catch (error) {
    say(String(error.message || error));
  }
}

for (const button of document.querySelectorAll("nav button")) button.addEventListener("click", () => open(button.dataset.view));
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  find();
});
$("older").addEventListener("click", () => find(foundBefore));
$("more-cards").addEventListener("click", () => {
  limit += SHOWN_AT_FIRST;
  draw();
});
$("whose").addEventListener("change", () => drawTaintView().catch((error) => say(error.message)));
$("hours").addEventListener("change", () => drawNumbersView().catch((error) => say(error.message)));
$("verify").addEventListener("click", verify);
$("denied").addEventListener("toggle", () => $("denied").open && listDenied());
setInterval(tick, 1000);
// Another tab has got a new session.
addEventListener("storage", (event) => {
  if (event.key === "bashgate-key" && event.newValue && !isIn) listen();
});

async function begin() {
  const token = location.hash.slice(1);
  if (/^[0-9a-f]{64}$/.test(token)) {
    history.replaceState(null, "", "/");
    const response = await fetch("/api/enter", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token }), credentials: "same-origin",
    }).catch(() => null);
    const entry = response && (await response.json().catch(() => null));
    if (entry && entry.key) {
      localStorage.setItem("bashgate-session", entry.session);
      localStorage.setItem("bashgate-key", entry.key);
    } else if (!key()) return lock((entry && entry.error) || "The host does not answer.");
  }
  listen();
}
addEventListener("hashchange", begin);
begin();
