// A table that scrolls in its frame can be scrolled by keyboard.
addEventListener("load", () => {
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap"))
    Object.assign(frame, { tabIndex: 0, role: "region", ariaLabel: "Table" });
  // A long name in a table breaks at a stop, a slash or a low line, and nowhere else.
  for (const name of document.querySelectorAll(".md-typeset td code"))
    name.innerHTML = name.innerHTML.replace(/[._/](?=\w)/g, "$&<wbr>");
});
