"""Would it have worked for us? A table of one's own, as a task and a world: `sottovoce try`."""
