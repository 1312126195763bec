"""The privacy audit: from outside, on report bytes, with a bound that holds whatever the code claims.

Two people with different data use the same device. An attacker reads everything they send and tries to tell them
apart. How well that goes bounds the true epsilon from below; an honest mechanism stays under its promise, a broken one
does not. The attacker makes every choice on training reports and is judged on fresh ones.

    subjects.py   who is audited: every mechanism of the registry, with the two most different people
    program.py    a device that is a program of its own, in any language
    planted.py    deliberately broken devices, which the audit must catch
    processes.py  reports, drawn in fresh processes
    clues.py      what an attacker reads in the bytes
    attack.py     the choice of the best event
    bounds.py     counts in, lower bound on epsilon out
    run.py        the verdict
"""
