"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const AT_ONCE = 30; // sequences that are drawn at once
  const LONGEST_WORD = 40;
  const HUES = [212, 130, 28, 275, 185, 335, 55, 160, 245, 8];
  const list = document.getElementById("sequence-list");
  const status = document.getElementById("status");
  const panel = document.getElementById("panel");
  const more = document.getElementById("more");
  const controls = {
    search: document.getElementById("search"),
    kind: document.getElementById("kind"),
    gold: document.getElementById("gold"),
    predicted: document.getElementById("predicted"),
    below: document.getElementById("below"),
    order: document.getElementById("order"),
  };

  const starts = [0];
  data.lengths.forEach((length) => starts.push(starts[starts.length - 1] + length));
  const goldAt = new Map(data.gold || []);
  const otherAt = new Map(data.changes ? data.changes.other : []);
  const kindsAt = new Map((data.kinds ? data.kinds.at : []).map(([t, ...kinds]) => [t, kinds]));
  const listedAt = byFirst(data.listed);
  const explanationAt = byFirst(data.explanations ? data.explanations.at : []);
  const folded = data.text.values.map((text) => text.toLowerCase());
  const sequenceOf = new Map(data.sequences.map((number, i) => [number, i]));
  const hues = labelHues();
  let chosen = []; // the sequences that pass the filters, in their order
  let finds = new Map(); // what the search found in each of them
  let drawn = 0;
  let current = null; // the token that Tab reaches
  let opened = null; // the token that the panel is about

  function byFirst(rows) {
    return new Map(rows.map((row) => [row[0], row]));
  }

  /** The type of a label: B-NP and I-NP are both NP; null for labels outside of spans. */
  function typeOf(label) {
    if (label === "O") return null;
    const parts = /^[BIESLU]-(.+)$/.exec(label);
    return parts ? parts[1] : label;
  }

  /** A hue for each type: the first types have hues that differ clearly, the others one by their name. */
  function labelHues() {
    const types = [...new Set(data.labels.map(typeOf).filter((type) => type !== null))];
    const count = new Map();
    data.predicted.forEach((label) => count.set(typeOf(data.labels[label]), (count.get(typeOf(data.labels[label])) || 0) + 1));
    types.sort((a, b) => (count.get(b) || 0) - (count.get(a) || 0));
    const found = new Map();
    types.forEach((type, i) => found.set(type, i < HUES.length ? HUES[i] : hashed(type) % 360));
    return data.labels.map((label) => (typeOf(label) === null ? null : found.get(typeOf(label))));
  }

  function hashed(text) {
    let hash = 7;
    for (const character of text) hash = (hash * 31 + character.codePointAt(0)) >>> 0;
    return hash;
  }

  function make(name, className, text) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function percent(thousandths) {
    return `${(thousandths / 10).toFixed(1)} %`;
  }

  // ---- filters

  function select(name) {
    return controls[name] ? controls[name].value : "";
  }

  /** A function that says whether a position passes the filters about positions; null if there are none. */
  function positionTest() {
    const kind = select("kind"), gold = select("gold"), predicted = select("predicted");
    const below = controls.below ? Number(controls.below.value) : 1000;
    if ((!kind || kind.startsWith("change-")) && !gold && !predicted && below >= 1000) return null;
    return (t) => {
      const own = goldAt.has(t) ? goldAt.get(t) : data.predicted[t];
      if (kind === "wrong" && !goldAt.has(t)) return false;
      if (kind.startsWith("kind-") && !(kindsAt.get(t) || []).includes(Number(kind.slice(5)))) return false;
      if (gold && own !== Number(gold)) return false;
      if (predicted && data.predicted[t] !== Number(predicted)) return false;
      return below >= 1000 || data.probability[t] < below;
    };
  }

  function sequenceTest() {
    const kind = select("kind");
    const wanted = kind.startsWith("change-") ? Number(kind.slice(7)) : null;
    const test = positionTest();
    return (i) => {
      if (wanted !== null && data.changes.at[i] !== wanted) return false;
      if (test === null) return true;
      for (let t = starts[i]; t < starts[i + 1]; t++) if (test(t)) return true;
      return false;
    };
  }

  /** A function from a sequence to what the search finds there: the searched text by position; null for nothing. */
  function searchFinder() {
    const wanted = controls.search.value.trim().toLowerCase();
    if (!wanted) return () => new Map();
    const numbered = /^#\d[\d,]*$/.test(wanted) ? sequenceOf.get(Number(wanted.slice(1).replaceAll(",", ""))) : undefined;
    if (numbered !== undefined) return (i) => (i === numbered ? new Map() : null);
    const words = wanted.split(/\s+/);
    const inside = words.map((word) => folded.map((text) => text.includes(word)));
    return (i) => {
      const found = new Map();
      for (let t = starts[i]; t < starts[i + 1]; t++) {
        const run = runFrom(t, starts[i + 1], words, inside);
        if (run) run.forEach((text, j) => found.set(t + j, text));
      }
      return found.size ? found : null;
    };
  }

  /**
   * What neighbouring positions from t on have of the words, in their order; null unless they have all of them. A word
   * is inside of the text of one position, or the texts of several positions together, such as letters.
   */
  function runFrom(t, end, words, inside) {
    const run = [];
    for (let j = 0; j < words.length; j++) {
      const at = t + run.length;
      if (at >= end) return null;
      if (inside[j][data.text.codes[at]]) {
        run.push(words[j]);
        continue;
      }
      let rest = words[j];
      while (rest && t + run.length < end) {
        const text = folded[data.text.codes[t + run.length]];
        if (!text || !rest.startsWith(text)) return null;
        run.push(text);
        rest = rest.slice(text.length);
      }
      if (rest) return null;
    }
    return run;
  }

  function ordered(found) {
    const order = select("order");
    if (order === "unsure") {
      const least = new Map(found.map((i) => [i, Math.min(...data.probability.slice(starts[i], starts[i + 1]))]));
      found.sort((a, b) => least.get(a) - least.get(b) || a - b);
    } else if (order === "errors") {
      const wrong = new Map(found.map((i) => [i, countWrong(i)]));
      found.sort((a, b) => wrong.get(b) - wrong.get(a) || a - b);
    }
    return found;
  }

  function countWrong(i) {
    let count = 0;
    for (let t = starts[i]; t < starts[i + 1]; t++) count += goldAt.has(t) ? 1 : 0;
    return count;
  }

  function apply() {
    close(false);
    hideTip();
    const passes = sequenceTest(), find = searchFinder();
    finds = new Map();
    chosen = ordered(data.lengths.map((_, i) => i).filter((i) => {
      const found = passes(i) ? find(i) : null;
      if (found) finds.set(i, found);
      return found !== null;
    }));
    list.replaceChildren();
    drawn = 0;
    current = null;
    draw();
    const all = data.lengths.length;
    const counted = `${chosen.length.toLocaleString("en")} of ${all.toLocaleString("en")} sequence${all === 1 ? "" : "s"}`;
    status.textContent = chosen.length ? counted : "No sequence passes the filters.";
  }

  // ---- drawing

  function draw() {
    const next = chosen.slice(drawn, drawn + AT_ONCE);
    const test = positionTest();
    list.append(...next.map((i) => sequenceElement(i, finds.get(i), test)));
    drawn += next.length;
    more.hidden = drawn >= chosen.length;
    if (current === null) makeCurrent(list.querySelector(".token"));
  }

  function sequenceElement(i, found, test) {
    const item = make("li", "sequence");
    const wrong = countWrong(i);
    let head = `sequence ${data.sequences[i].toLocaleString("en")}`;
    if (data.gold) head += wrong ? `, ${wrong} wrong` : ", all right";
    if (data.changes && data.changes.at[i] >= 0) head += `, ${data.changes.names[data.changes.at[i]]}`;
    if (data.cut[i]) head += `; the first ${data.lengths[i].toLocaleString("en")} of ${data.cut[i].toLocaleString("en")} positions`;
    item.append(make("p", "sequence-head", head));
    const tokens = make("div", "tokens");
    tokens.setAttribute("role", "group");
    tokens.setAttribute("aria-label", head);
    tokens.dir = "auto";
    for (let t = starts[i]; t < starts[i + 1]; t++) tokens.append(tokenElement(t, found.get(t), test !== null && test(t)));
    item.append(tokens);
    return item;
  }

  function tokenElement(t, found, fits) {
    const token = make("button", goldAt.has(t) ? "token wrong" : "token");
    token.type = "button";
    if (fits) token.classList.add("fits");
    token.tabIndex = -1;
    token.dataset.t = t;
    token.append(wordElement(data.text.values[data.text.codes[t]], found), chip(data.predicted[t], data.probability[t] < 900));
    if (goldAt.has(t)) token.append(make("span", "gold", `gold ${data.labels[goldAt.get(t)]}`));
    if (otherAt.has(t)) token.append(make("span", "other", `other ${data.labels[otherAt.get(t)]}`));
    return token;
  }

  /** A text; what the search found in it is marked. */
  function wordElement(text, found) {
    const word = make("bdi", "word");
    const cut = text.length > LONGEST_WORD ? `${text.slice(0, LONGEST_WORD - 1)}…` : text;
    if (cut !== text) word.title = text;
    const low = cut.toLowerCase();
    const begin = found !== undefined && low.length === cut.length ? low.indexOf(found) : -1;
    if (begin < 0) {
      word.textContent = cut || "\u00a0";
      return word;
    }
    word.append(cut.slice(0, begin), make("mark", "", cut.slice(begin, begin + found.length)), cut.slice(begin + found.length));
    return word;
  }

  function chip(label, unsure) {
    const element = make("bdi", unsure ? "chip unsure" : "chip", data.labels[label]);
    if (hues[label] === null) element.classList.add("outside");
    else element.style.setProperty("--hue", hues[label]);
    return element;
  }

  // ---- probabilities by hover and by focus

  const tip = make("div", "tip");
  tip.id = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);

  function probabilityBars(t) {
    const bars = make("div", "bars");
    const row = listedAt.get(t) || [t, data.predicted[t], data.probability[t]];
    for (let j = 1; j < row.length; j += 2) {
      const bar = make("span", "bar");
      bar.style.width = `${row[j + 1] / 10}%`;
      bars.append(make("bdi", "", data.labels[row[j]]), bar, make("span", "", percent(row[j + 1])));
    }
    return bars;
  }

  function showTip(token) {
    const t = Number(token.dataset.t);
    tip.replaceChildren(probabilityBars(t));
    tip.hidden = false;
    token.setAttribute("aria-describedby", "tip");
    const box = token.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    tip.style.left = `${Math.max(4, Math.min(box.left, width - own.width - 8)) + window.scrollX}px`;
    const above = box.top - own.height - 6;
    tip.style.top = `${(above > 4 ? above : box.bottom + 6) + window.scrollY}px`;
  }

  function hideTip() {
    tip.hidden = true;
    if (current) current.removeAttribute("aria-describedby");
  }

  // ---- the panel

  function open(token) {
    const t = Number(token.dataset.t);
    if (opened) opened.classList.remove("open");
    opened = token;
    token.classList.add("open");
    makeCurrent(token);
    hideTip();
    const button = make("button", "plain close", "Close");
    button.type = "button";
    button.addEventListener("click", () => close(true));
    panel.replaceChildren(button, ...panelContent(t));
    panel.hidden = false;
    panel.scrollTop = 0;
    document.body.classList.add("with-panel"); // room to scroll the last positions out from under the panel
    button.focus({ preventScroll: true });
    uncover(token);
  }

  /** Scroll the page if the panel covers the token that it is about. */
  function uncover(token) {
    const own = token.getBoundingClientRect(), cover = panel.getBoundingClientRect();
    if (own.right > cover.left && own.bottom > cover.top) window.scrollBy({ top: own.top - 60 });
  }

  function close(focus) {
    if (!opened) return;
    const token = opened;
    opened = null;
    token.classList.remove("open");
    panel.hidden = true;
    document.body.classList.remove("with-panel");
    if (focus && token.isConnected) token.focus();
  }

  function panelContent(t) {
    const word = make("h3");
    word.append(make("bdi", "", data.text.values[data.text.codes[t]]));
    const place = make("p", "note", placeText(t));
    const about = make("p");
    about.append("Predicted ", chip(data.predicted[t], false));
    if (data.gold) {
      const gold = goldAt.has(t) ? goldAt.get(t) : data.predicted[t];
      about.append(", gold ", chip(gold, false), kindText(t));
    }
    if (otherAt.has(t)) about.append(" The other model predicts ", chip(otherAt.get(t), false), ".");
    const parts = [word, place, about, make("h4", "", data.doubt ? "Scores" : "Probabilities"), probabilityBars(t)];
    if (data.doubt) parts.push(make("p", "note", `Note: ${data.doubt}.`));
    return [...parts, ...explanationContent(t), ...columnContent(t)];
  }

  /** Where a position is in X, counted from 0. */
  function placeText(t) {
    let low = 0, high = starts.length - 1; // starts[low] <= t < starts[high]
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= t) low = middle;
      else high = middle;
    }
    return `Sequence ${data.sequences[low].toLocaleString("en")}, position ${(t - starts[low]).toLocaleString("en")}.`;
  }

  function kindText(t) {
    const names = (kindsAt.get(t) || []).map((kind) => data.kinds.names[kind]).filter((name) => name !== "label");
    const words = names.join(" and ");
    if (!names.length) return goldAt.has(t) ? ": wrong." : ": right.";
    if (goldAt.has(t)) return names.length > 1 ? `: wrong; errors of the spans: ${words}.` : `: wrong; error of the span: ${words}.`;
    return names.length > 1 ? `: right, in spans that are wrong: ${words}.` : `: right, in a span that is wrong: ${words}.`;
  }

  function explanationContent(t) {
    const row = explanationAt.get(t);
    if (!row) return [make("h4", "", "Why?"), make("p", "note", data.unexplained)];
    const [, against, odds, nOthers, ...amounts] = row; // numbers that JSON does not have are texts, such as "Infinity"
    const [others, ...parts] = amounts.map(Number);
    const head = make("h4");
    head.append("Why ", make("bdi", "", data.labels[data.predicted[t]]), " rather than ", make("bdi", "", data.labels[against]), "?");
    const table = make("table");
    const body = make("tbody");
    let greatest = Math.abs(others);
    for (let j = 1; j < parts.length; j += 2) greatest = Math.max(greatest, Math.abs(parts[j]));
    for (let j = 0; j < parts.length; j += 2) body.append(amountRow(data.explanations.texts[parts[j]], parts[j + 1], greatest));
    if (nOthers) body.append(amountRow(`${nOthers} others`, others, greatest));
    table.append(make("caption", "", `What adds up to the log-odds, ${signed(Number(odds))}`), body);
    return data.explanations.note ? [head, table, make("p", "note", `Note: ${data.explanations.note}.`)] : [head, table];
  }

  function signed(hundredths) {
    if (Number.isNaN(hundredths)) return "∞ − ∞";
    const size = Math.abs(hundredths);
    return `${hundredths < 0 ? "−" : "+"}${size === Infinity ? "∞" : (size / 100).toFixed(2)}`;
  }

  function amountRow(text, amount, greatest) {
    const row = make("tr"), name = make("th"), bar = make("td"), number = make("td", "number", signed(amount));
    name.scope = "row";
    name.append(make("bdi", "", text));
    const both = make("div", "amount"), filled = make("span", amount < 0 ? "against" : "for");
    const size = Math.abs(amount);
    filled.style.width = `${size === Infinity ? 100 : (100 * size) / (greatest || 1) || 0}%`;
    both.append(filled);
    bar.append(both);
    row.append(name, bar, number);
    return row;
  }

  function columnContent(t) {
    if (!data.columns.length) return [];
    const table = make("table"), body = make("tbody");
    for (const column of data.columns) {
      const row = make("tr"), name = make("th"), value = make("td");
      name.scope = "row";
      name.append(make("bdi", "", column.name));
      value.append(make("bdi", "", column.values[column.codes[t]]));
      row.append(name, value);
      body.append(row);
    }
    table.append(make("caption", "", "Other columns at this position"), body);
    return [table];
  }

  // ---- keyboard and mouse

  function makeCurrent(token) {
    if (current) current.tabIndex = -1;
    current = token;
    if (token) token.tabIndex = 0;
  }

  /** The token to which a key moves; null if the key moves nowhere. */
  function target(token, key) {
    const item = token.closest(".sequence"), tokens = [...item.querySelectorAll(".token")];
    const place = tokens.indexOf(token);
    const backwards = getComputedStyle(token.parentElement).direction === "rtl";
    if (key === "ArrowRight" || key === "ArrowLeft") {
      const step = (key === "ArrowRight") !== backwards ? 1 : -1;
      const inside = tokens[place + step];
      if (inside) return inside;
      const other = neighbour(item, step);
      return other && other[step > 0 ? 0 : other.length - 1];
    }
    if (key === "ArrowDown" || key === "ArrowUp") {
      const other = neighbour(item, key === "ArrowDown" ? 1 : -1);
      return other && other[Math.min(place, other.length - 1)];
    }
    if (key === "Home") return tokens[0];
    if (key === "End") return tokens[tokens.length - 1];
    return null;
  }

  function neighbour(item, step) {
    if (step > 0 && !item.nextElementSibling) draw();
    const other = step > 0 ? item.nextElementSibling : item.previousElementSibling;
    return other && other.querySelectorAll(".token");
  }

  list.addEventListener("keydown", (event) => {
    const token = event.target.closest(".token");
    if (!token || event.altKey || event.ctrlKey || event.metaKey) return;
    const next = target(token, event.key);
    if (!next) return;
    event.preventDefault();
    makeCurrent(next);
    next.focus();
  });
  list.addEventListener("click", (event) => {
    const token = event.target.closest(".token");
    if (token) open(token);
  });
  list.addEventListener("focusin", (event) => {
    const token = event.target.closest(".token");
    if (!token) return;
    makeCurrent(token);
    showTip(token);
  });
  list.addEventListener("focusout", hideTip);
  list.addEventListener("mouseover", (event) => {
    const token = event.target.closest(".token");
    if (token) showTip(token);
  });
  list.addEventListener("mouseout", hideTip);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    hideTip();
    close(true);
  });
  for (const [name, control] of Object.entries(controls)) {
    if (control) control.addEventListener(name === "search" || name === "below" ? "input" : "change", changed);
  }
  function changed() {
    const { below } = controls;
    const words = below.value >= 1000 ? "any" : `below ${below.value / 10} %`;
    document.getElementById("below-value").textContent = words;
    below.setAttribute("aria-valuetext", words);
    apply();
  }
  function clear() {
    for (const [name, control] of Object.entries(controls)) {
      if (control) control.value = name === "below" ? 1000 : name === "order" ? "data" : "";
    }
  }
  document.getElementById("reset").addEventListener("click", () => {
    clear();
    changed();
  });
  document.addEventListener("click", (event) => {
    const pair = event.target.closest(".show");
    if (!pair) return;
    clear();
    const { kind, search, gold, predicted } = pair.dataset;
    if (kind) controls.kind.value = kind;
    if (search) controls.search.value = search;
    if (gold) choose(controls.gold, gold);
    if (predicted) choose(controls.predicted, predicted);
    changed();
    const first = list.querySelector(".token.fits") || current;
    (first || status).scrollIntoView({ block: "center" });
    if (!first) return;
    makeCurrent(first);
    first.focus({ preventScroll: true });
    hideTip();
  });

  /** Choose a label by its code; one that is too rare to be listed is added to the list. */
  function choose(control, code) {
    if (![...control.options].some((option) => option.value === code)) control.add(new Option(data.labels[code], code));
    control.value = code;
  }

  /** Tab reaches a wide table or chart only if it can be scrolled. */
  function skipUnscrolled() {
    for (const region of document.querySelectorAll(".scroll")) {
      if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
      else region.removeAttribute("tabindex");
    }
  }
  window.addEventListener("resize", () => {
    hideTip();
    skipUnscrolled();
  });
  document.addEventListener("toggle", skipUnscrolled, true);
  skipUnscrolled();
  more.addEventListener("click", draw);
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && drawn < chosen.length) draw();
  }, { rootMargin: "600px" }).observe(more);
  document.getElementById("without-script").hidden = true;
  document.getElementById("browser").hidden = false;
  apply();
})();
