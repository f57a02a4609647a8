// What every widget needs on its page. `module` in front.py puts this before the widget's own code.

// An element with attributes (`on…` are listeners) and children, elements or words.
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

// Prepare the element that a widget is drawn in, and return how to undo it.
//
// While it is on the page, the still picture of the same answer is not shown. Keys pressed in it
// never reach the notebook, which would take `x` for "cut this cell"; Tab, Shift+Enter and what is
// pressed with Ctrl, Alt or Meta do. `press(event)` is asked first, and says whether it used a key.
function settle(model, el, press = () => false) {
  const still = `[data-blocklab-still="${model.get("still")}"] { display: none }`;
  el.replaceChildren(make("style", {}, still));
  el.classList.add("blocklab-widget");
  el.lang = model.get("language");

  const theirs = (event) =>
    event.ctrlKey || event.altKey || event.metaKey || event.key === "Tab" ||
    (event.shiftKey && event.key === "Enter");
  const keep = (event) => {
    if (!el.contains(event.target) || theirs(event)) return;
    event.stopPropagation();
    if (event.type === "keydown" && press(event)) event.preventDefault();
  };
  const kinds = ["keydown", "keypress", "keyup"];
  for (const kind of kinds) window.addEventListener(kind, keep, true); // before the notebook's own
  return () => kinds.forEach((kind) => window.removeEventListener(kind, keep, true));
}

// Call `then` whenever one of the traits changes, and once now; returns how to stop.
function follow(model, traits, then) {
  const names = traits.map((trait) => `change:${trait}`);
  for (const name of names) model.on(name, then);
  then();
  return () => names.forEach((name) => model.off(name, then));
}

// Set traits and tell Python.
function tell(model, values) {
  for (const [trait, value] of Object.entries(values)) model.set(trait, value);
  model.save_changes();
}
