"""Fitted estimators on workers: they travel as the bytes of their file, and a process loads each of them once."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hedgerow.estimators.registry import REGISTRY
from hedgerow.model import Model

if TYPE_CHECKING:
    from hedgerow.estimators.base import Estimator

KEPT = 4  # estimators that a process keeps; the one that was not used for longest is dropped first

_loaded: OrderedDict[str, Estimator] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelCopy:
    """A fitted estimator: its class, its present parameters as JSON, and the bytes of its model file."""

    estimator: str
    parameters: Mapping[str, Any]
    content: bytes
    digest: str

    @classmethod
    def of(cls, fitted: Estimator) -> ModelCopy:
        """The copy of an estimator; on a worker it has one thread, because a worker runs a task for each of its own."""
        settings = fitted._converted()
        settings.n_jobs = 1
        name, parameters, content = type(fitted).__name__, settings._plain_params(), fitted._fitted().to_bytes()
        digest = hashlib.blake2b(json.dumps([name, parameters], sort_keys=True).encode(), digest_size=16)
        digest.update(content)
        return cls(estimator=name, parameters=parameters, content=content, digest=digest.hexdigest())

    def load(self) -> Estimator:
        """The fitted estimator; loaded in the first call in a process."""
        with _lock:
            fitted = _loaded.get(self.digest)
            if fitted is None:
                fitted = _loaded[self.digest] = self._restored()
            _loaded.move_to_end(self.digest)
            while len(_loaded) > KEPT:
                _loaded.popitem(last=False)
        return fitted

    def _restored(self) -> Estimator:
        fitted: Estimator = REGISTRY[self.estimator]._from_plain(self.parameters)
        fitted._set_model(Model.from_bytes(self.content))
        return fitted

    def __repr__(self) -> str:
        return f"ModelCopy({self.estimator}, {len(self.content)} bytes, digest {self.digest})"
