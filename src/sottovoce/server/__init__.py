"""The live server: offers, private reports, and a journal that the learner folds. It never sees raw data."""
