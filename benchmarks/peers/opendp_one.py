"""Reports of OpenDP in a process of its own: prints microseconds of each mechanism as JSON. Started by `devices.py`."""

import json
import sys

import opendp.prelude as dp
from timing import microseconds


def main() -> None:
    epsilon, reports = float(sys.argv[1]), int(sys.argv[2])
    dp.enable_features("contrib")
    e = 2.718281828459045**epsilon
    bit = dp.m.make_randomized_response_bool(e / (1 + e))
    levels = dp.m.make_randomized_response([str(level) for level in range(10)], e / (9 + e))
    space = dp.atom_domain(bounds=(0.0, 1.0), nan=False), dp.absolute_distance(T=float)
    laplace = dp.m.make_laplace(*space, scale=1 / epsilon)
    many = {
        "one of 2 levels": lambda: bit(True),
        "one of 10 levels": lambda: levels("3"),
        "Laplace": lambda: laplace(0.3),
    }
    print(json.dumps({name: microseconds(draw, reports) for name, draw in many.items()}))


if __name__ == "__main__":
    main()
