// A list of statements to tick.

function render({ model, el }) {
  const undo = settle(model, el);
  const boxes = model.get("items").map((html, i) => {
    const tick = () => {
      const others = model.get("ticked").filter((other) => other !== i);
      tell(model, { ticked: box.checked ? [...others, i].sort((a, b) => a - b) : others });
    };
    const box = make("input", { type: "checkbox", onchange: tick });
    const words = make("span");
    words.innerHTML = html;
    el.append(make("label", { class: "blocklab-item" }, box, words));
    return box;
  });
  el.querySelector("label")?.before(make("strong", {}, model.get("title")));

  const stop = follow(model, ["ticked"], () =>
    boxes.forEach((box, i) => (box.checked = model.get("ticked").includes(i))));
  return () => [stop, undo].forEach((end) => end());
}

export default { render };
