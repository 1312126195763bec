// A table that scrolls in its frame can be scrolled by keyboard.
addEventListener("load", () => {
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap"))
    Object.assign(frame, { tabIndex: 0, role: "region", ariaLabel: "Table" });
  // A long name in a table breaks at a stop, a slash or a low line, and nowhere else.
  for (const name of document.querySelectorAll(".md-typeset td code"))
    name.innerHTML = name.innerHTML.replace(/[._/](?=\w)/g, "$&<wbr>");
  // Sentences in a table are not squeezed to a word a line, and "5 %" stays in one: then rather the table scrolls.
  for (const cell of document.querySelectorAll(".md-typeset td")) {
    cell.classList.toggle("sentence", cell.textContent.length > 40);
    cell.classList.toggle("figure", /^.{0,9}$/.test(cell.textContent) && /\d/.test(cell.textContent));
  }
  // A picture of a page shows, in a narrow window, that page in a narrow window.
  if (matchMedia("(max-width: 600px)").matches)
    for (const picture of document.querySelectorAll('.md-typeset img[src*="-1280."]'))
      picture.src = picture.src.replace("-1280.", "-390.");
});
