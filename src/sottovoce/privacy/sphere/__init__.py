"""The sphere codebook: fourteen bytes for a vector of any length.

mechanism.py     the numbers and the proof
calibrate.py     from a budget to the numbers, and back: do they keep it?
codebook.py      the unit vectors that a seed names, in integers (normal_table.py)
draw.py          on the device
read.py          on the server
law.py           what a learner may know of the noise, and what the simulator draws from
"""

from sottovoce.privacy.kind import Kind, pure_cost
from sottovoce.privacy.sphere import law, read
from sottovoce.privacy.sphere.calibrate import sphere, verify
from sottovoce.privacy.sphere.mechanism import Sphere

KIND = Kind(
    numbers=Sphere,
    calibrate=sphere,
    verify=verify,
    cost=pure_cost,
    report_size=read.report_size,
    check=read.check,
    decode=read.decode,
    noise=law.noise,
    law=law.law,
)
