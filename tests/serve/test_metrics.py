"""The table of metrics is what is exported, and what is documented."""

from __future__ import annotations

import re

import pytest

from k8sjob.ledger.tail import MOST
from k8sjob.serve.collector import registry_of
from k8sjob.serve.exposition import write
from k8sjob.serve.ledgers import SHARED_FOR_S, WITHIN_S
from k8sjob.serve.metrics import METRICS, OUTCOMES, PREFIX, STATES
from k8sjob.serve.tail import MOST_OF_ALL
from k8sjob.states import State
from tests.docs.write_metrics import MARK, PAGE, tables, written
from tests.serve.test_exposition import told


def test_the_page_has_the_table_of_the_code() -> None:
    page = PAGE.read_text("utf-8")
    assert MARK + tables() in page
    assert written(page) == page, "make docs writes it"


def test_each_metric_that_the_page_speaks_of_is_one() -> None:
    names = set(re.findall(r"\bk8sjob_[a-z_]+", PAGE.read_text("utf-8")))
    assert names == {PREFIX + name for name in METRICS}


@pytest.mark.parametrize("words", [STATES, OUTCOMES], ids=["states", "outcomes"])
def test_each_value_of_a_label_is_explained_on_the_page(words: tuple[str, ...]) -> None:
    text = PAGE.read_text("utf-8").replace(tables(), "")
    assert [word for word in words if f"`{word}`" not in text] == []


def test_the_bounds_of_the_page_are_those_of_the_code() -> None:
    text = PAGE.read_text("utf-8")
    assert f"Of one job {MOST} periods" in text
    assert f"and {MOST_OF_ALL:,} of all jobs together" in text
    assert (WITHIN_S, SHARED_FOR_S) == (8, 1)
    assert "within a\nsecond of each other" in text
    assert "within eight seconds" in text


def test_each_metric_has_exactly_the_labels_of_the_table() -> None:
    text = write(registry_of(told).collect(), open_metrics=False).decode()
    found: dict[str, set[tuple[str, ...]]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, inner = re.fullmatch(r"(\w+)\{(.*)\} \S+", line).groups()  # type: ignore[union-attr]
            labels = tuple(re.findall(r'(\w+)="', inner))
            found.setdefault(name, set()).add(labels)
    assert found == {PREFIX + name: {about.labels} for name, about in METRICS.items()}


def test_no_name_or_label_is_one_that_prometheus_would_rename() -> None:
    """A scrape renames `job` and `instance` of ours: `exported_job`."""
    for name, about in METRICS.items():
        assert not {"job", "instance"} & set(about.labels), name
        assert name.endswith("_total") is (about.kind == "counter"), name
        assert about.help.endswith("."), name


def test_the_states_are_those_that_are_unfinished() -> None:
    from k8sjob.view.state import UNFINISHED

    assert {State(state) for state in STATES if state != "uncertain"} == set(UNFINISHED)
