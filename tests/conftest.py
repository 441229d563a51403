"""What tests share: a small model file, and Hypothesis without deadlines.

Sanitizers and busy machines are slow; in CI every run has the same cases.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from builders.storage import ARRAYS, METADATA
from hedgerow import storage

settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A small model file."""
    path = tmp_path / "m.hedgerow"
    storage.write(path, ARRAYS, METADATA)
    return path
