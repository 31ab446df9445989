"use strict";
{
  const html = document.documentElement;
  html.classList.add("js");
  const items = [...document.querySelectorAll("#list li")];
  const links = items.map((item) => item.firstElementChild);
  const sections = [...document.querySelectorAll("main > section")];
  const search = document.getElementById("search");
  const count = document.getElementById("count");

  const show = (id, focus) => {
    let chosen = sections.findIndex((section) => section.id === id);
    if (chosen < 0) chosen = 0;
    sections.forEach((section, index) => section.classList.toggle("chosen", index === chosen));
    links.forEach((link, index) => {
      if (index === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    if (focus && sections[chosen]) {
      sections[chosen].focus({ preventScroll: true });
      sections[chosen].scrollIntoView({ block: "start" });
    }
  };
  const wanted = () => location.hash.slice(1);
  addEventListener("hashchange", () => show(wanted(), true));
  show(wanted(), Boolean(wanted()));

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = document.querySelector('input[name="show"]:checked').value.split(" ").filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const fits =
        words.every((word) => item.dataset.words.includes(word)) &&
        (verdicts.length === 0 || verdicts.includes(item.dataset.verdict));
      item.hidden = !fits;
      shown += fits;
    }
    count.textContent = shown === items.length ? "" : `${shown} of ${items.length} entry points`;
  };
  search.addEventListener("input", filter);
  for (const radio of document.querySelectorAll('input[name="show"]')) radio.addEventListener("change", filter);
  filter();

  const visible = () => links.filter((link) => !link.parentElement.hidden);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      filter();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const list = visible();
      const at = list.indexOf(document.activeElement);
      if (at < 0 && !(document.activeElement === search && event.key === "ArrowDown")) return;
      const next = list[at < 0 ? 0 : at + (event.key === "ArrowDown" ? 1 : -1)];
      event.preventDefault();
      (next || (event.key === "ArrowUp" ? search : list[at])).focus();
    }
  });

  for (const button of document.querySelectorAll("button.more")) {
    const section = button.closest("section");
    section.classList.add("brief");
    button.addEventListener("click", () => {
      const brief = section.classList.toggle("brief");
      button.setAttribute("aria-pressed", String(!brief));
    });
  }

  for (const button of document.querySelectorAll("th > button")) {
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      const row = button.closest("tr");
      const depth = Number(row.dataset.depth);
      let closed = null;
      for (let next = row.nextElementSibling; next && Number(next.dataset.depth) > depth; next = next.nextElementSibling) {
        const own = Number(next.dataset.depth);
        if (closed !== null && own <= closed) closed = null;
        next.hidden = !open || closed !== null;
        const inner = next.querySelector("th > button");
        if (closed === null && inner && inner.getAttribute("aria-expanded") !== "true") closed = own;
      }
    });
  }
}
