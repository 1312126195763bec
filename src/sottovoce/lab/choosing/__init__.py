"""Which learner, preset and budget? Every one that answers the same question, side by side in one world."""
