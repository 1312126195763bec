"""The paper's mechanisms: discrete Gaussian and discrete Laplace noise on a fine grid, eight bytes a number.

mechanism.py  the numbers and the two proofs
delta.py      what Gaussian noise costs
calibrate.py  from a budget to the numbers, and back: do they keep it?
draw.py       on the device
read.py       on the server
law.py        what a learner may know of the noise, and what the simulator draws from
"""

from sottovoce.privacy.grid import law, read
from sottovoce.privacy.grid.calibrate import FORMULAS, gaussian, laplace, verify_gaussian, verify_laplace
from sottovoce.privacy.grid.delta import gaussian_cost
from sottovoce.privacy.grid.mechanism import Gaussian, Laplace
from sottovoce.privacy.kind import Kind, pure_cost

GAUSSIAN = Kind(
    numbers=Gaussian,
    calibrate=gaussian,
    formulas=tuple(FORMULAS),
    verify=verify_gaussian,
    cost=gaussian_cost,
    report_size=read.report_size,
    check=read.check,
    decode=read.decode,
    noise=law.gaussian_noise,
    law=law.gaussian_law,
)

LAPLACE = Kind(
    numbers=Laplace,
    calibrate=laplace,
    verify=verify_laplace,
    cost=pure_cost,
    report_size=read.report_size,
    check=read.check,
    decode=read.decode,
    noise=law.laplace_noise,
    law=law.laplace_law,
)
