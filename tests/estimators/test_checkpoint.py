"""A checkpoint that cannot be written is refused before the first round."""

from __future__ import annotations

import pytest

import hedgerow as hr


@pytest.mark.parametrize("make", [hr.TreeCRF, hr.MEMM])
def test_a_path_that_cannot_be_written_is_found_out_at_the_start(make, tmp_path):
    rounds = []
    for path in (tmp_path / "absent" / "m", tmp_path):
        with pytest.raises(OSError, match="cannot save"):
            make(checkpoint=str(path)).fit(["ab", "ba"], [["x", "y"], ["y", "x"]], callbacks=[rounds.append])
    assert rounds == []
