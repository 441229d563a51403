"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const AT_ONCE = 30; // pieces of sequences that are drawn at once; fewer if they have more positions than MOST_DRAWN
  const MOST_DRAWN = 1500;
  const LONGEST_WORD = 40;
  const HUES = [212, 130, 28, 275, 185, 335, 55, 160, 245, 8];
  const list = document.getElementById("sequence-list");
  const status = document.getElementById("status");
  const panel = document.getElementById("panel");
  const more = document.getElementById("more");
  const steps = document.getElementById("steps");
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
  const folded = data.text ? data.text.values.map((text) => text.toLowerCase()) : [];
  const hues = labelHues();
  let chosen = []; // the pieces of sequences that pass the filters, in their order
  let finds = new Map(); // what the search found in each of them
  let matches = []; // the positions that pass the filters about positions, or that the search found
  let drawn = 0;
  let current = null; // the token that Tab reaches
  let opened = null; // the token that the panel is about

  function byFirst(rows) {
    return new Map(rows.map((row) => [row[0], row]));
  }

  /** The piece in which a position is. */
  function pieceOf(t) {
    let low = 0, high = starts.length - 1; // starts[low] <= t < starts[high]
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= t) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Where a piece begins in its sequence; a sequence that is not divided is one piece. */
  function firstOf(i) {
    return data.pieces[i] ? data.pieces[i][0] : 0;
  }

  /** The position in its sequence. */
  function placeOf(t) {
    const i = pieceOf(t);
    return firstOf(i) + t - starts[i];
  }

  /** The text of a position; its number where all columns are numbers. */
  function textOf(t) {
    return data.text ? data.text.values[data.text.codes[t]] : String(placeOf(t));
  }

  function inWords(n) {
    return n.toLocaleString("en");
  }

  function counted(n, noun) {
    return `${inWords(n)} ${noun}${n === 1 ? "" : "s"}`;
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
    if (!kind && !gold && !predicted && below >= 1000) return null;
    return (t) => {
      const own = goldAt.has(t) ? goldAt.get(t) : data.predicted[t];
      if (kind === "wrong" && !goldAt.has(t)) return false;
      if (kind.startsWith("change-") && !otherAt.has(t)) return false;
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
    const numbered = /^#\d[\d,]*$/.test(wanted) ? Number(wanted.slice(1).replaceAll(",", "")) : -1;
    if (data.sequences.includes(numbered)) return (i) => (data.sequences[i] === numbered ? new Map() : null);
    const words = wanted.split(/\s+/);
    if (!data.text) return numberFinder(words.map((word) => Number(word.replaceAll(",", ""))));
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

  /** A function from a piece to those of some positions of its sequence that are in it. */
  function numberFinder(places) {
    return (i) => {
      const found = places.map((place) => starts[i] + place - firstOf(i)).filter((t) => t >= starts[i] && t < starts[i + 1]);
      return found.length ? new Map(found.map((t) => [t, textOf(t)])) : null;
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
    const passes = sequenceTest(), find = searchFinder(), test = positionTest();
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
    matches = chosen.flatMap((i) => matchesIn(i, test));
    steps.hidden = !matches.length;
    const all = counted(new Set(data.sequences).size, "sequence");
    const some = `${inWords(new Set(chosen.map((i) => data.sequences[i])).size)} of ${all}`;
    const found = matches.length ? `${counted(matches.length, "position")} in ${some}` : some;
    status.textContent = chosen.length ? found : "No sequence passes the filters.";
  }

  /** The positions of a piece that pass the filters about positions; without these, those that the search found. */
  function matchesIn(i, test) {
    if (test === null) return [...finds.get(i).keys()];
    const found = [];
    for (let t = starts[i]; t < starts[i + 1]; t++) if (test(t)) found.push(t);
    return found;
  }

  /** Go to the next match, or the previous one; after the last comes the first. */
  function step(by, focus) {
    if (!matches.length) return;
    const from = focus || current.classList.contains("visited"); // otherwise this is the first step
    const at = from ? matches.indexOf(Number(current.dataset.t)) : -1;
    goTo(matches[at < 0 ? (by > 0 ? 0 : matches.length - 1) : (at + by + matches.length) % matches.length], focus);
  }

  function goTo(t, focus) {
    let token = list.querySelector(`[data-t="${t}"]`);
    while (!token && drawn < chosen.length) {
      draw();
      token = list.querySelector(`[data-t="${t}"]`);
    }
    token.scrollIntoView({ block: "center" });
    makeCurrent(token);
    if (focus) token.focus({ preventScroll: true });
    token.classList.add("visited"); // after the focus, which makes the token current too
    hideTip();
  }

  // ---- drawing

  function draw() {
    let end = drawn;
    for (let n = 0; end < chosen.length && end < drawn + AT_ONCE && n < MOST_DRAWN; end++) n += data.lengths[chosen[end]];
    const next = chosen.slice(drawn, end);
    const test = positionTest();
    list.append(...next.map((i) => sequenceElement(i, finds.get(i), test)));
    drawn += next.length;
    more.hidden = drawn >= chosen.length;
    if (current === null) makeCurrent(list.querySelector(".token"));
  }

  function sequenceElement(i, found, test) {
    const item = make("li", "sequence");
    const wrong = countWrong(i);
    let head = `sequence ${inWords(data.sequences[i])}`;
    if (data.pieces[i]) {
      const [first, all] = data.pieces[i];
      head += `, positions ${inWords(first)} to ${inWords(first + data.lengths[i] - 1)} of ${inWords(all)}`;
    }
    if (data.gold) head += wrong ? `, ${inWords(wrong)} wrong` : ", all right";
    if (data.changes && data.changes.at[i] >= 0) head += `, ${data.changes.names[data.changes.at[i]]}`;
    item.append(make("p", "sequence-head", head));
    if (!data.text) item.append(stripElement(i));
    const tokens = make("div", "tokens");
    tokens.setAttribute("role", "group");
    tokens.setAttribute("aria-label", head);
    tokens.dir = directionOf(i);
    for (let t = starts[i]; t < starts[i + 1]; t++) tokens.append(tokenElement(t, found.get(t), test !== null && test(t)));
    item.append(tokens);
    return item;
  }

  /** The direction of the first letter of the texts: "auto" would not look inside of their own elements. */
  function directionOf(i) {
    if (!data.text) return "ltr";
    for (let t = starts[i]; t < starts[i + 1]; t++) {
      const letter = /\p{L}/u.exec(textOf(t));
      if (letter) return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|\ud83a|\ud802/.test(letter[0]) ? "rtl" : "ltr";
    }
    return "ltr";
  }

  /** The labels of a piece as coloured lines, gold above predicted: an overview for eyes and mouse. */
  function stripElement(i) {
    const strip = make("div", "strip");
    strip.setAttribute("aria-hidden", "true");
    strip.dataset.piece = i;
    const gold = (t) => (goldAt.has(t) ? goldAt.get(t) : data.predicted[t]);
    if (data.gold) strip.append(make("span", "", "gold"), lineElement(i, gold));
    strip.append(make("span", "", "predicted"), lineElement(i, (t) => data.predicted[t]));
    return strip;
  }

  function lineElement(i, labelAt) {
    const stops = [];
    for (let t = starts[i]; t < starts[i + 1]; t++) {
      const label = labelAt(t);
      if (t > starts[i] && labelAt(t - 1) === label) stops.pop();
      else stops.push(`${colour(label)} ${(100 * (t - starts[i])) / data.lengths[i]}%`);
      stops.push(`${colour(label)} ${(100 * (t + 1 - starts[i])) / data.lengths[i]}%`);
    }
    const line = make("div", "line");
    line.style.backgroundImage = `linear-gradient(to right, ${stops.join(", ")})`;
    return line;
  }

  function colour(label) {
    return hues[label] === null ? "var(--line)" : `hsl(${hues[label]} var(--chip-saturation) var(--line-light))`;
  }

  function tokenElement(t, found, fits) {
    const token = make("button", goldAt.has(t) ? "token wrong" : "token");
    token.type = "button";
    if (fits) token.classList.add("fits");
    token.tabIndex = -1;
    token.dataset.t = t;
    token.append(wordElement(textOf(t), found), chip(data.predicted[t], data.probability[t] < 900));
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
    const name = (label) => (goldAt.get(t) === label ? `${data.labels[label]} (gold)` : data.labels[label]);
    for (let j = 1; j < row.length; j += 2) {
      const bar = make("span", "bar");
      bar.style.width = `${row[j + 1] / 10}%`;
      bars.append(make("bdi", "", name(row[j])), bar, make("span", "", percent(row[j + 1])));
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
    word.append(make("bdi", "", data.text ? textOf(t) : `Position ${inWords(placeOf(t))}`));
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
    return `Sequence ${inWords(data.sequences[pieceOf(t)])}, position ${inWords(placeOf(t))}.`;
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
    const found = [head, table];
    if (Number(odds) < 0) found.push(make("p", "note", data.negative));
    if (data.explanations.note) found.push(make("p", "note", `Note: ${data.explanations.note}.`));
    return found;
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
    table.append(make("caption", "", data.text ? "Other columns at this position" : "Columns at this position"), body);
    return [table];
  }

  // ---- keyboard and mouse

  function makeCurrent(token) {
    if (current) {
      current.tabIndex = -1;
      current.classList.remove("visited");
    }
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
  /** The keys n and p, while a position or a button has the focus: elsewhere they are letters. */
  document.getElementById("browser").addEventListener("keydown", (event) => {
    if (!event.target.closest("button") || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "n" || event.key === "p") step(event.key === "n" ? 1 : -1, true);
  });
  list.addEventListener("click", (event) => {
    const token = event.target.closest(".token"), line = event.target.closest(".line");
    if (token) open(token);
    if (!line) return;
    const box = line.getBoundingClientRect(), i = Number(line.parentElement.dataset.piece);
    const place = Math.floor((data.lengths[i] * (event.clientX - box.left)) / box.width);
    goTo(starts[i] + Math.max(0, Math.min(place, data.lengths[i] - 1)), true);
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
    if (current) goTo(matches.length ? matches[0] : Number(current.dataset.t), true);
    else status.scrollIntoView({ block: "center" });
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
  document.getElementById("previous").addEventListener("click", () => step(-1, false));
  document.getElementById("next").addEventListener("click", () => step(1, false));
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && drawn < chosen.length) draw();
  }, { rootMargin: "600px" }).observe(more);
  document.getElementById("without-script").hidden = true;
  document.getElementById("browser").hidden = false;
  apply();
})();
