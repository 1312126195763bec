"""The live device in Python: chooses, observes, and whispers; the owner's ledger lives here."""
