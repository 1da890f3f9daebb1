from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from k8sjob.errors import EXIT_TABLE
from tests.chart.jobs import RUN, SIDECAR, cronjob

if TYPE_CHECKING:
    from tests.fix_chart import Object

pytestmark = pytest.mark.usefixtures("helm")

#: What the chart has to say of k8sjob's own codes: made from the one table of them.
PERMANENT = sorted(int(code) for code, meaning in EXIT_TABLE.items() if meaning.permanent)
EVICTED: Object = {
    "action": "Ignore",
    "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
}


def _fails(container: str, codes: list[int]) -> Object:
    what = {"containerName": container, "operator": "In", "values": codes}
    return {"action": "FailJob", "onExitCodes": what}


def _rules(job: dict[str, Any]) -> list[Object]:
    rules: list[Object] = cronjob(job)["spec"]["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
    return rules


def test_a_code_after_which_no_other_try_can_help_ends_the_job() -> None:
    assert _rules(RUN) == [_fails("main", PERMANENT), EVICTED]


def test_in_sidecar_mode_only_the_container_of_k8sjob_speaks_with_its_codes() -> None:
    assert _rules(SIDECAR) == [_fails("resolve", PERMANENT), EVICTED]


def test_codes_of_the_work_itself_are_added_in_ascending_order_each_once() -> None:
    own = {"permanentExitCodes": [200, 3, 65]}
    assert _rules(RUN | own)[0] == _fails("main", sorted({3, 200, *PERMANENT}))
    assert _rules(SIDECAR | own) == [
        _fails("main", [3, 65, 200]),
        _fails("resolve", PERMANENT),
        EVICTED,
    ]


def test_an_eviction_is_looked_at_last() -> None:
    """The first rule that fits decides: what cannot be done is not tried for ever on new nodes."""
    assert [rule["action"] for rule in _rules(RUN)][-1] == "Ignore"
