"""k-level randomised response: one byte for one number.

mechanism.py  the numbers and the proof
calibrate.py  from a budget to the numbers, and back: do they keep it?
draw.py       on the device
read.py       on the server
law.py        what a learner may know of the noise, and what the simulator draws from
"""

from sottovoce.privacy.kind import Kind, pure_cost
from sottovoce.privacy.levels import law, read
from sottovoce.privacy.levels.calibrate import levels, verify
from sottovoce.privacy.levels.mechanism import Levels

KIND = Kind(
    numbers=Levels,
    calibrate=levels,
    verify=verify,
    cost=pure_cost,
    report_size=read.report_size,
    check=read.check,
    decode=read.decode,
    noise=law.noise,
    law=law.law,
)
