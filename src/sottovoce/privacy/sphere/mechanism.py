"""What the sphere codebook promises, and with which integers."""

from dataclasses import dataclass

from sottovoce.privacy.domains import Domain, size
from sottovoce.protocol.budget import Budget


@dataclass(frozen=True)
class Sphere:
    """The sphere codebook, for a message of bounded norm. Pure epsilon, a few bytes whatever the dimension.

    A fresh random seed defines `candidates` unit vectors; the `cap` nearest to the message (lifted to the sphere by one
    slack coordinate) are the cap. Index i is sent with weight `inside` in the cap and `outside` elsewhere, integers.

    *Proof.* Fix the seed: it is drawn before the message is looked at. Every message has exactly `cap` candidates of
    weight `inside` and candidates - cap of weight `outside`, so the normaliser is the same for all messages and two
    probabilities of one (seed, i) differ by at most inside/outside <= e^epsilon. QED. No floating-point number, no
    symmetry of the codebook and no honest server is needed: a wrong ranking costs accuracy, never privacy.

    Kin: PrivUnit (Bhowmick et al. 2018, arXiv 1812.00984); k-closest encoding (Isik et al. 2023, arXiv 2306.04924).
    """

    domain: Domain
    budget: Budget
    candidates: int
    cap: int
    inside: int
    outside: int
    mean: float
    """E<candidate sent, message>: the server divides by it."""

    @property
    def dimension(self) -> int:
        """Coordinates of a candidate: those of the message and the slack."""
        return size(self.domain) + 1
