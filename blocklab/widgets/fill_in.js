// A diagram to fill in. Python draws it and keeps the answer; here are the pointer and the keys.

function render({ model, el }) {
  const undo = settle(model, el, press);
  const words = model.get("words");
  const canvas = make("div", { class: "blocklab-canvas" });
  const tray = make("div", { class: "blocklab-row", role: "group", "aria-label": words.tray });
  const ask = make("button", { type: "button", onclick: () => tell(model, { asked: !model.get("asked") }) }, words.ask);
  const clear = make("button", { type: "button", onclick: () => tell(model, { answer: "", place: 0 }) }, words.clear);
  const reading = make("div", { class: "blocklab-reading", role: "status" });
  const code = make("code", { role: "group", "aria-label": words.code, tabindex: 0 });
  el.append(
    make("div", {}, make("b", {}, `${words.title}.`), ` ${words.question}`),
    make("div", { class: "blocklab-fill-in" }, canvas,
      make("div", { class: "blocklab-side" },
        make("div", { class: "blocklab-how" }, words.how), tray,
        make("div", { class: "blocklab-row" }, ask, clear), reading,
        make("div", { class: "blocklab-how" }, words.code), code)));

  const nodes = () => [...canvas.querySelectorAll(".blocklab-node")];
  const labels = () => [...tray.children];
  const node = (place) => canvas.querySelector(`[data-place="${place}"]`);
  // Where no place is named, Python knows best which one is chosen by then.
  const put = (label, place = null) => model.send({ put: [label, place && Number(place)] });

  function draw() {
    const view = model.get("view");
    const inside = canvas.contains(document.activeElement);
    canvas.innerHTML = view.drawing;
    if (inside) node(model.get("place"))?.focus();
    if (!tray.children.length) tray.append(...view.tray.map(label));
    view.tray.forEach(({ says, used }, i) => {
      labels()[i].setAttribute("aria-label", says);
      labels()[i].classList.toggle("blocklab-used", used);
    });
    ask.setAttribute("aria-expanded", model.get("asked"));
    ask.textContent = model.get("asked") ? words.hide : words.ask;
    if (reading.innerHTML !== view.reading) reading.innerHTML = view.reading;
    code.textContent = view.code;
  }

  function label({ name, label }, i) {
    const button = make("button", {
      type: "button", class: "blocklab-label", "data-label": name, tabindex: i ? -1 : 0,
      onclick: () => put(name),
    }, label);
    return button;
  }

  // Keys: arrows move within the nodes and within the labels, Enter goes from one to the other.
  function press(event) {
    const at = event.target.closest?.(".blocklab-node, .blocklab-label");
    if (!at) return false;
    const among = at.matches(".blocklab-node") ? nodes() : labels();
    const move = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    if (move) {
      const to = among[Math.min(Math.max(among.indexOf(at) + move, 0), among.length - 1)];
      if (among[0].matches(".blocklab-node")) choose(to);
      else rove(to);
      return true;
    }
    if (event.key === "Escape") { node(model.get("place"))?.focus(); return true; }
    if (!at.matches(".blocklab-node")) return false;
    if (event.key === "Delete" || event.key === "Backspace") { put("?", at.dataset.place); return true; }
    if (event.key !== "Enter" && event.key !== " ") return false;
    choose(at);
    labels().find((one) => one.tabIndex === 0).focus();
    return true;
  }

  function choose(to) {
    to.focus();
    tell(model, { place: Number(to.dataset.place) });
  }

  function rove(to) {
    for (const one of labels()) one.tabIndex = one === to ? 0 : -1;
    to.focus();
  }

  // Pointer: a label, or a node that has one, follows the pointer to the node it is dropped on.
  el.addEventListener("dragstart", (event) => event.preventDefault()); // of words the browser marked
  el.addEventListener("pointerdown", (start) => {
    const from = start.target.closest(".blocklab-label, .blocklab-node");
    if (!from || start.button) return;
    const name = from.dataset.label ?? model.get("answer").split(" ")[from.dataset.place];
    let ghost = null;
    const over = (event) => {
      const found = document.elementFromPoint(event.clientX, event.clientY)?.closest(".blocklab-node");
      return found && el.contains(found) ? found : null;
    };
    const drag = (event) => {
      const far = Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > 6;
      if (!ghost && far && name && name !== "?") {
        const shown = labels().find((one) => one.dataset.label === name)?.textContent ?? name;
        ghost = make("div", { class: "blocklab-ghost", "aria-hidden": "true" }, shown);
        document.body.append(ghost);
      }
      if (!ghost) return;
      event.preventDefault();
      ghost.style.transform = `translate(${event.clientX}px, ${event.clientY}px)`;
      const target = over(event);
      for (const one of nodes()) one.classList.toggle("blocklab-over", one === target);
    };
    const drop = (event) => {
      for (const [kind, listener] of listeners) window.removeEventListener(kind, listener);
      const target = event.type === "pointerup" && over(event);
      if (ghost) {
        ghost.remove();
        for (const one of nodes()) one.classList.remove("blocklab-over");
        window.addEventListener("click", swallow, { capture: true, once: true });
        setTimeout(() => window.removeEventListener("click", swallow, true));
        if (from.dataset.place && target !== from) put("?", from.dataset.place);
        if (target) put(name, target.dataset.place);
      } else if (target && target === from) choose(target);
    };
    const swallow = (event) => event.stopPropagation(); // the click that a drag ends with
    const listeners = [["pointermove", drag], ["pointerup", drop], ["pointercancel", drop]];
    for (const [kind, listener] of listeners) window.addEventListener(kind, listener);
  });

  const stop = follow(model, ["view"], draw);
  return () => { stop(); undo(); };
}

export default { render };
