from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from k8sjob.doctor.access import Api
from k8sjob.doctor.gather import _ask
from k8sjob.doctor.purpose import NEEDS, Purpose
from k8sjob.kube.inside import Inside

if TYPE_CHECKING:
    from k8sjob.kube.inside_review import Review, Right


class Odd(Inside):
    """An API server whose answer nobody has thought of."""

    __slots__ = ()

    def may(self, right: Right) -> Review:
        """Fail as a bug would."""
        _fail(right)


def _fail(right: Right) -> NoReturn:
    raise ValueError(f"no {right.verb}")


def test_what_nobody_has_thought_of_is_trouble_and_not_silence() -> None:
    """Without it the lines about rights would be absent, and doctor would end with 0."""
    api = Api(in_cluster=True)
    inside = Odd.__new__(Odd)
    _ask(inside, NEEDS[Purpose.RUN], ["billing"], api)
    assert api.trouble is not None
    assert "ValueError: no get" in str(api.trouble)
