"use strict";
// Reads the data, makes the sections, and draws them: what is in view at once, the others when there is time.

let D, chosen = -1; // the document; the kernel that is looked at, -1: the whole run
const SECTIONS = []; // id and title
const WAITING = new Map(); // sections that are not drawn yet, and what draws them

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** A section at the end of the page; `draw` fills it when it is needed. */
function section(id, title, note, draw) {
  const place = make("section", { id, class: "waiting" }, make("h2", {}, title));
  if (note) place.append(make("p", { class: "note" }, note));
  document.getElementById("main").append(place);
  SECTIONS.push([id, title]);
  WAITING.set(place, draw);
}

function drawNow(place) {
  const draw = WAITING.get(place);
  if (!draw) return;
  WAITING.delete(place);
  NEAR.unobserve(place);
  place.classList.remove("waiting");
  draw(place);
}

function drawAll() {
  for (const place of [...WAITING.keys()]) drawNow(place);
}

const NEAR = new IntersectionObserver((seen) => {
  for (const each of seen) if (each.isIntersecting) drawNow(each.target);
}, { rootMargin: "300px" });

/** A browser that is idle draws what nobody has looked at, so that all of it can be found and printed. */
function drawWhenIdle(done) {
  const [next] = WAITING.keys();
  if (!next) return done();
  const step = () => {
    drawNow(next);
    drawWhenIdle(done);
  };
  if (window.requestIdleCallback) requestIdleCallback(step, { timeout: 2000 });
  else setTimeout(step, 50);
}

/** Make all sections of what `D` is, and draw those in view. */
function build(parts) {
  document.getElementById("main").replaceChildren();
  for (const list of [SECTIONS, CHARTS, CHOICE]) list.length = 0;
  NEAR.disconnect();
  WAITING.clear();
  chosen = -1;
  delete document.body.dataset.drawn;
  for (const part of parts) part();
  document.getElementById("nav").replaceChildren(...SECTIONS.map(([id, title]) => make("a", { href: `#${id}` }, title)));
  const height = innerHeight;
  for (const place of [...WAITING.keys()]) if (place.getBoundingClientRect().top < height) drawNow(place);
  toHash();
  for (const place of WAITING.keys()) NEAR.observe(place);
  tell("ready");
  const built = [...WAITING.keys()];
  drawWhenIdle(() => { if (built.every((place) => place.isConnected)) tell("drawn"); });
}

/** That the page is so far, for those who measure it: once it is on the screen. */
function tell(state) {
  requestAnimationFrame(() => setTimeout(() => {
    document.body.dataset[state] = "yes";
    performance.mark(state);
  }));
}

function toHash() {
  const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return;
  drawNow(place);
  place.scrollIntoView();
}

function theme() {
  const root = document.documentElement, button = document.getElementById("theme");
  root.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
  button.addEventListener("click", () => { root.classList.toggle("dark"); redraw(false); });
  addEventListener("resize", () => redraw(true));
  addEventListener("beforeprint", drawAll);
  addEventListener("hashchange", toHash);
  document.getElementById("nav").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) drawNow(document.getElementById(link.hash.slice(1)));
  });
}

let whole; // the document of a system, while one of its GPUs is shown

/** Show a GPU of a system; -1: the system. */
function show(number) {
  document.getElementById("gpu").value = String(number);
  D = number < 0 ? whole : whole.gpus[number];
  build(number < 0 ? OF_A_SYSTEM : OF_A_GPU);
  scrollTo(0, 0);
}

function chooseGpu() {
  const names = whole.gpus.map((g, k) => make("option", { value: k }, `GPU ${k}: ${g.gpu}`));
  const which = make("select", { id: "gpu", "aria-label": "GPU that is shown" }, make("option", { value: "-1" }, "the system"), ...names);
  which.addEventListener("change", () => show(+which.value));
  document.getElementById("title").after(which);
}

async function start() {
  const main = document.getElementById("main");
  try {
    D = await unpack(document.getElementById("data").textContent);
  } catch (error) {
    main.textContent = `This file is damaged, or the browser is older than 2023: ${error}`;
    return;
  }
  theme();
  document.getElementById("title").textContent = document.title.replace(/ – lockstep$/, "");
  if (D.gpus) {
    whole = D;
    chooseGpu();
    build(OF_A_SYSTEM);
  } else build(D.kernels ? OF_A_GPU : [comparison]);
}

start();
