"""Checkpoints: which files a fit writes, continues from, and refuses before the first round."""

from __future__ import annotations

import pytest

import hedgerow as hr
from hedgerow.errors import InputError, ModelFileError


@pytest.mark.parametrize("make", [hr.TreeCRF, hr.MEMM])
def test_a_path_that_cannot_be_written_is_found_out_at_the_start(make, tmp_path):
    rounds = []
    for path in (tmp_path / "absent" / "m", tmp_path):
        with pytest.raises(OSError, match="cannot save"):
            make(n_rounds=9, checkpoint=str(path)).fit(
                ["ab", "ba"], [["x", "y"], ["y", "x"]], callbacks=[rounds.append]
            )
    assert rounds == []


X, Y = ["ab", "ba", "aa"], [["x", "y"], ["y", "x"], ["x", "x"]]


@pytest.mark.parametrize("make", [hr.TreeCRF, hr.MEMM])
def test_fewer_rounds_than_there_are_is_refused(make, tmp_path):
    path = tmp_path / "c.hedgerow"
    make(n_rounds=20, checkpoint=path).fit(X, Y)
    rule = "has 20 rounds already, but n_rounds is 5; raise n_rounds, choose another checkpoint file"
    with pytest.raises(InputError, match=rule):
        make(n_rounds=5, checkpoint=path).fit(X, Y)
    model = make(n_rounds=6, warm_start=True).fit(X, Y)
    with pytest.raises(InputError, match="has 6 rounds already, but n_rounds is 5; raise n_rounds"):
        model.set_params(n_rounds=5).fit(X, Y)
    assert len(model.set_params(n_rounds=6).fit(X, Y).training_log_) == 6


def test_a_path_object_is_stored_as_text(tmp_path):
    model = hr.TreeCRF(n_rounds=10, checkpoint=tmp_path / "c").fit(X, Y)
    assert model.checkpoint == tmp_path / "c"
    model.save(tmp_path / "m")
    assert hr.load(tmp_path / "m").checkpoint == str(tmp_path / "c")
    with pytest.raises(InputError, match="checkpoint must be a str, a path or None; it is 3"):
        hr.TreeCRF(n_rounds=10, checkpoint=3).fit(X, Y)


def test_other_files_at_the_path_are_refused_with_a_cure(tmp_path):
    (tmp_path / "notes").write_text("milk, eggs")
    with pytest.raises(ModelFileError, match=r"is not a hedgerow model file; .* choose another checkpoint path"):
        hr.TreeCRF(n_rounds=10, checkpoint=tmp_path / "notes").fit(X, Y)
    hr.HMM().fit(X, Y).save(tmp_path / "hmm")
    with pytest.raises(InputError, match="not a checkpoint; choose another checkpoint path"):
        hr.TreeCRF(n_rounds=10, checkpoint=tmp_path / "hmm").fit(X, Y)
    hr.TreeCRF(n_rounds=10, checkpoint=tmp_path / "c").fit(X, Y)
    with pytest.raises(InputError, match="repeat the fit with the data and parameters of that file, or choose another"):
        hr.TreeCRF(n_rounds=10, l2=3.0, checkpoint=tmp_path / "c").fit(X, Y)


@pytest.mark.parametrize("verbose", [True, False, 1])
def test_verbose_may_be_a_bool(verbose, tmp_path, caplog):
    caplog.set_level("INFO", "hedgerow")
    model = hr.HMM(verbose=verbose).fit(X, Y)
    assert bool(caplog.records) is bool(verbose)
    model.save(tmp_path / "m")
    with pytest.raises(InputError, match="verbose must be an integer of at least 0, or a bool; it is -1"):
        hr.HMM(verbose=-1).fit(X, Y)


@pytest.mark.parametrize("content", ["hello", "a longer text that is no model", "{}"])
def test_load_says_what_is_no_model_file(content, tmp_path):
    (tmp_path / "notes").write_text(content.ljust(8))
    with pytest.raises(ModelFileError, match="is not a hedgerow model file; give a file that save wrote"):
        hr.load(tmp_path / "notes")
