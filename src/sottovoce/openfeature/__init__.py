"""A provider for OpenFeature: evaluating a flag is `choose`, tracking its reward is `observe`. See docs/openfeature.md.

>>> from openfeature import api                                                          # doctest: +SKIP
>>> from sottovoce.openfeature import Flag, SottovoceProvider                             # doctest: +SKIP
>>> api.set_provider(SottovoceProvider("https://learn.example", {"headline": Flag()}))    # doctest: +SKIP
"""

from sottovoce.openfeature.flags import Flag
from sottovoce.openfeature.provider import SottovoceProvider

__all__ = ["Flag", "SottovoceProvider"]
