"""What a budget means in odds: the words for people who decide, in one place. Every bound is rounded up.

*Proof.* Under epsilon the chances of any report under two data differ by a factor of at most e^epsilon, so Bayes' rule
changes the odds of the two by at most that factor. A guess between two equally likely data is right with a chance of at
most 1/2 + d/2, with d their total variation distance, and d <= (e^epsilon - 1 + 2 delta)/(e^epsilon + 1). With a delta
two laws that keep epsilon alone are within a distance of delta of the true ones (Dwork and Roth, The algorithmic
foundations of differential privacy, 2014, lemma 3.17), so the factor holds but for a probability of delta.
"""

import math

from sottovoce.privacy.mechanisms import LARGEST_EPSILON
from sottovoce.protocol.budget import Budget

RARE = 0.01
"""A suspicion before anything was heard: one in a hundred."""
UNBOUNDED = "no bound"
SURE = "100\N{NO-BREAK SPACE}%"


def factor(spent: Budget) -> str:
    """By how much odds change at most; above the largest epsilon that a device accepts for a report, no number.

    >>> factor(Budget(1.0)), factor(Budget(6.0)), factor(Budget(20.0))
    ('2.8', '410', 'no bound')
    """
    return UNBOUNDED if spent.epsilon > LARGEST_EPSILON else f"{rounded_up(math.exp(spent.epsilon)):,g}"


def even_guess(spent: Budget) -> str:
    """How often a guess between two equally likely things is right at most.

    >>> print(even_guess(Budget(1.0)), even_guess(Budget(1.0, 0.1)), even_guess(Budget(20.0)), sep=", ")
    73.2 %, 75.8 %, 100 %
    """
    return _percent((1 + spent.delta * math.exp(-spent.epsilon)) / (1 + math.exp(-spent.epsilon)))


def rare_guess(spent: Budget) -> str:
    """How likely something becomes at most that was held for one in a hundred.

    >>> print(rare_guess(Budget(1.0)), rare_guess(Budget(4.0)), sep=", ")
    2.7 %, 35.6 %
    """
    return _percent(RARE / (RARE + (1 - RARE) * math.exp(-spent.epsilon)))


def in_words(spent: Budget) -> str:
    """One sentence.

    >>> print(in_words(Budget(2.0)))
    the odds of any guess change by a factor of at most 7.4: an even guess is right in at most 88.1 % of cases
    """
    if factor(spent) == UNBOUNDED:
        return "there is no useful bound on what a guess can gain"
    but = f", but for a probability of {spent.delta:g}" if spent.delta else ""
    guess = even_guess(spent)
    right = "may be nearly sure" if guess == SURE else f"is right in at most {guess} of cases"
    return f"the odds of any guess change by a factor of at most {factor(spent)}{but}: an even guess {right}"


def rounded_up(number: float) -> float:
    """Two digits, upwards.

    >>> rounded_up(0.1234), rounded_up(2.0), rounded_up(403.4)
    (0.13, 2.0, 410.0)
    """
    digits = 1 - math.floor(math.log10(number))
    return round(math.ceil(number * 10.0**digits - 1e-9) / 10.0**digits, max(digits, 0))


def _percent(share: float) -> str:
    """In tenths of a percent, upwards."""
    tenths = math.ceil(1000 * share - 1e-9)
    return SURE if tenths >= 1000 else f"{tenths / 10:.1f}\N{NO-BREAK SPACE}%"
