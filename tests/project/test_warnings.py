"""Warnings of one thread can be handed to a function, and those of other threads stay as they are."""

from __future__ import annotations

import threading

import pytest

from hedgerow.errors import BagWarning, warn_user, warnings_to


def test_a_handler_gets_the_warnings_of_its_thread_only() -> None:
    seen: list[tuple[str, type[Warning]]] = []
    began, over = threading.Event(), threading.Event()

    def handled() -> None:
        with warnings_to(lambda message, category: seen.append((message, category))):
            warn_user("there", BagWarning)
            began.set()
            over.wait(60)

    other = threading.Thread(target=handled)
    other.start()
    began.wait(60)
    try:
        with pytest.warns(BagWarning, match="here"):
            warn_user("here", BagWarning)
    finally:
        over.set()
        other.join()
    assert seen == [("there", BagWarning)]


def test_the_handler_is_dropped_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), warnings_to(lambda message, category: None):
        raise ZeroDivisionError
    with pytest.warns(BagWarning):
        warn_user("afterwards", BagWarning)
