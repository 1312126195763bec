"""One step of learning, for the simulator, the live server and a loop of one's own: start, learn, publish, stop."""
