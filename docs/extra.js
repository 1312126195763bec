// A table that scrolls in its frame can be scrolled by keyboard.
addEventListener("load", () => {
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap"))
    Object.assign(frame, { tabIndex: 0, role: "region", ariaLabel: "Table" });
});
