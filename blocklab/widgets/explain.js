// A picture that Python draws, and its knobs. A knob is made once, so that it keeps its focus.

const KNOBS = { slider, menu, switch: toggle };

function render({ model, el }) {
  const undo = settle(model, el);
  const described = model.get("knobs");
  const turn = (name, value) => tell(model, { values: { ...model.get("values"), [name]: value } });
  const start = Object.fromEntries(described.map((knob) => [knob.name, knob.start]));
  const knobs = described.map((knob) => KNOBS[knob.kind](knob, (value) => turn(knob.name, value)));
  const reset = { type: "button", onclick: () => tell(model, { values: start }) };
  const picture = make("div");
  const sentence = make("p", { "aria-live": "polite" });
  el.append(
    make("strong", {}, model.get("title")),
    make(
      "div",
      { class: "blocklab-explained" },
      make("div", {}, picture, sentence),
      make("div", {}, ...knobs.map((knob) => knob.made), make("button", reset, model.get("again"))),
    ),
  );

  const stops = [
    follow(model, ["values"], () =>
      described.forEach((knob, i) => knobs[i].set(model.get("values")[knob.name]))),
    follow(model, ["drawing"], () => (picture.innerHTML = model.get("drawing"))),
    follow(model, ["sentence"], () => (sentence.textContent = model.get("sentence"))),
    undo,
  ];
  return () => stops.forEach((stop) => stop());
}

// Each knob: the element `made`, and `set` to show a value. `turn` takes a value chosen by hand.

function slider({ label, stops }, turn) {
  const input = make("input", {
    type: "range", min: 0, max: stops.length - 1, oninput: () => turn(stops[input.value][0]),
  });
  const number = make("b", { "aria-hidden": "true" }); // `aria-valuetext` says it
  const set = (value) => {
    input.value = stops.findIndex(([stop]) => stop === value);
    number.textContent = stops[input.value][1];
    input.setAttribute("aria-valuetext", number.textContent);
  };
  const name = make("span", { class: "blocklab-named" }, label, number);
  return { made: make("label", {}, name, input), set };
}

function menu({ label, options }, turn) {
  const choices = options.map(([value, words]) => make("option", { value }, words));
  const input = make("select", { onchange: () => turn(input.value) }, ...choices);
  return { made: make("label", {}, label, input), set: (value) => (input.value = value) };
}

function toggle({ label }, turn) {
  const input = make("input", { type: "checkbox", onchange: () => turn(input.checked) });
  const made = make("label", { class: "blocklab-switch" }, input, label);
  return { made, set: (on) => (input.checked = on) };
}

export default { render };
