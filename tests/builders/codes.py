"""Random generators and sizes for tests of output codes."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from hedgerow.codes.code_words import least_bits, most_bits


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@st.composite
def sizes(draw):
    k = draw(st.integers(2, 40))
    n = draw(st.integers(least_bits(k), min(most_bits(k), 3 * least_bits(k) + 8)))
    return k, n
