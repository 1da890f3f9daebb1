"""However few people write it so: what is put in means the same, and goes without a trace."""

from __future__ import annotations

import pytest

from k8sjob.manifest.inject.record import Mode
from tests.inject.injected import covered, cronjobs, emptied, objects, taken_back, without
from tests.inject.odd import ODD


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_it_is_covered_and_taken_back(text: str, mode: Mode) -> None:
    there = covered(text, mode=mode, claims=True, annotations={"owner": "me, you"})
    assert covered(there) == there
    assert taken_back(there) == text
    assert len(objects(there)) == len(objects(text))
    for one, then in zip(cronjobs(text), cronjobs(there), strict=True):
        assert without(then, mode) == emptied(one)
