"""The learner that a client iterates over, whose work is done by a crew of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hedgerow.distributed.crew import Crew, retrying
from hedgerow.distributed.member import Advance
from hedgerow.encoding import Encoder
from hedgerow.errors import warn_user
from hedgerow.learning.base import Record
from hedgerow.potentials.base import Potential, Stored
from hedgerow.potentials.registry import restore


class RemoteLearner:
    """Yields the records of the crew's learner.

    After the loss of a worker a new crew resumes from the steps so far, or repeats them if the learner has no `resume`.
    """

    def __init__(
        self, make_crew: Callable[[], Crew], client: Any, encoder: Encoder, n_labels: int, order: int, log: list[Record]
    ) -> None:
        self._make_crew, self._client = make_crew, client
        self._encoder, self._n_labels, self._order = encoder, n_labels, order
        self._log = log  # of the model that the fit continues from
        self._crew: Crew | None = None
        self._steps: list[Any] = []
        self._records: list[Record] = []
        self._ended = False

    @property
    def training_log(self) -> list[Record]:
        return list(self._log)

    def __iter__(self) -> Iterator[Record]:
        while True:
            try:
                results = self._retry(self._advance)
            except KeyboardInterrupt:
                self._drop_step()
                raise
            for message, category in results[0].warnings:
                warn_user(message, category)
            if results[0].record is None:
                self._ended = True
                return
            self._records.append(dict(results[0].record))
            self._steps.append(results[0].step)
            yield results[0].record

    def _drop_step(self) -> None:
        """Leave a step that was interrupted out of the model, as it is left out of the log, if steps can be resumed."""
        if self._steps and self._steps[-1] is not None:
            self.close()

    def _advance(self) -> list[Advance]:
        crew = self._ready()
        results: list[Advance] = crew.all("advance")
        if results[0].record is not None:
            crew.report(results)
        return results

    def _ready(self) -> Crew:
        """The crew, which has made all steps so far."""
        if self._crew is None:
            crew = self._make_crew()
            resumes = bool(self._steps) and all(step is not None for step in self._steps)
            crew.all("begin", self._steps if resumes else [], self._records if resumes else [])
            for _ in () if resumes else self._records:
                crew.all("advance")
            if self._ended:
                crew.all("advance")
            self._crew = crew
        return self._crew

    def _retry(self, attempt: Callable[[], Any]) -> Any:
        return retrying(attempt, self._client, self._forget)

    def _forget(self) -> None:
        self.close()

    @property
    def potential(self) -> Potential:
        """What has been learned so far."""

        def ask() -> Any:
            return self._ready().all("potential")[0].step

        kind, metadata, arrays = self._retry(ask)
        stored = Stored({"kind": kind, **metadata}, arrays, self._encoder, self._n_labels, self._order)
        return restore(stored)

    def close(self) -> None:
        """Free the workers."""
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.close()
