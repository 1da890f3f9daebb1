"""Both formats say what prometheus-client's own writers say, whatever stands in the labels."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import prometheus_client
import prometheus_client.openmetrics.exposition
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import parser as text_parser
from prometheus_client.openmetrics import parser as open_metrics_parser

from k8sjob.cycle import Cycle
from k8sjob.expect import Expected, Version
from k8sjob.ledger.scrape import Beyond, Counted, Facts, JobFacts, PassFacts
from k8sjob.period import Period
from k8sjob.serve.collector import registry_of
from k8sjob.serve.exposition import OPEN_METRICS, TEXT, choose, write
from k8sjob.serve.metrics import METRICS, OUTCOMES, PREFIX, STATES
from k8sjob.serve.numbers import Reading
from tests.fix_scraped import JOB

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import CollectorRegistry, Metric

    from tests.fix_scraped import Scraped

NOW = datetime(2026, 9, 13, 19, 0, 0, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)

#: What Prometheus 2.42 asks for.
PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)

HOSTILE = {
    "quotes": 'a "b" c',
    "backslashes": r"C:\new\\ \"",
    "a newline": "one\ntwo\n",
    "the end of a line": 'x"} 1\nk8sjob_up{ledger="y"} 0\n# EOF\n',
    "other newlines": "a\rb\r\nc\vd\fe\x1cf\x85g\u2028h\u2029i",
    "braces and commas": "{a=\"b\",c='d'}, # HELP",
    "unicode": "Überweisung 支払い 🧾 a\u0301 \u202eabc",
    "4 kB": 'é"\\' * 1365,
    "spaces": "  x  ",
    "what is no text": "\x00\x01\x07\x1b[31m\x7f",
    "nothing": "",
}


def told(owner: str = "payments", ledger: str = "main") -> list[Reading]:
    """Return readings in which each family has a value, and some values are odd ones."""
    period = Period.at(NOW.replace(minute=0, second=0, microsecond=0) - HOUR)
    version = Version(
        n=1, expr="0 * * * *", earliest_from=NOW - 9 * HOUR, valid_from=NOW - 9 * HOUR
    )
    missed = Expected(
        period=period,
        scheduled_for=NOW - HOUR,
        window_end=NOW,
        zone=None,
        first_fire=NOW - HOUR,
        last_fire=NOW - HOUR,
        deadline=NOW - HOUR / 2,
        version=1,
        uncertain=False,
    )
    jobs = [
        JobFacts(
            JOB, Cycle.SCHEDULED, owner=owner, severity=owner, cronjob=owner,
            schedule="0 * * * *", suspended=True, tracked_since=NOW - 9 * HOUR,
            done_until=NOW - 2 * HOUR, last_duration_s=1e-07,
            last_start_delay_s=-0.1, max_duration_s=1e16, consecutive_failures=3,
            versions=[version],
        ),
        JobFacts("ops/vacuum", Cycle.MONTH, last_done="2026-08", zone="Europe/Rome"),
    ]  # fmt: skip
    facts = Facts(
        now=NOW,
        schema_version=4,
        jobs=jobs,
        counted=[Counted(JOB, "blocked", 2, NOW - 9 * HOUR, None, None, NOW - 8 * HOUR)],
        beyond=Beyond(fired={JOB: [missed]}, truncated=frozenset({JOB}), next_fire={JOB: NOW}),
        counters={(JOB, "applied"): 2**53, (JOB, "in-doubt"): 1},
        passes=[PassFacts("*", NOW - HOUR, 1.25, 0), PassFacts("a,b", None, 0, 7)],
        outbox={"pending": 3, "dead": 0},
        outbox_oldest=NOW - HOUR,
    )
    return [
        Reading(ledger=ledger, took_s=0.25, facts=facts),
        Reading(ledger="gone", took_s=8, trouble="away"),
    ]


def samples(families: Iterable[Metric]) -> list[tuple[object, ...]]:
    """Return what families say, whichever order they have."""
    found = [
        (family.name, family.type, family.documentation, s.name, sorted(s.labels.items()), s.value)
        for family in families
        for s in family.samples
    ]
    return sorted(found, key=str)


def ours(registry: CollectorRegistry, *, open_metrics: bool) -> str:
    return write(registry.collect(), open_metrics=open_metrics).decode()


def theirs(registry: CollectorRegistry, *, open_metrics: bool) -> str:
    module: Any = prometheus_client.openmetrics.exposition if open_metrics else prometheus_client
    return str(module.generate_latest(registry), "utf-8")


def read(text: str, *, open_metrics: bool) -> list[Metric]:
    parser: Any = open_metrics_parser if open_metrics else text_parser
    return list(parser.text_string_to_metric_families(text))


def assert_alike(registry: CollectorRegistry) -> None:
    """Both formats, read by prometheus-client, are its own and what the registry has."""
    for form in ({"open_metrics": True}, {"open_metrics": False}):
        told = samples(read(ours(registry, **form), **form))
        assert told == samples(read(theirs(registry, **form), **form))
        assert told == samples(registry.collect())


def test_each_family_is_said_once_with_its_help_and_kind() -> None:
    text = ours(registry_of(told), open_metrics=False)
    heads = [line.split(" ", 3) for line in text.splitlines() if line.startswith("# ")]
    assert heads[::2] == [["#", "HELP", PREFIX + n, about.help] for n, about in METRICS.items()]
    assert heads[1::2] == [["#", "TYPE", PREFIX + n, about.kind] for n, about in METRICS.items()]
    text = ours(registry_of(told), open_metrics=True)
    assert "# TYPE k8sjob_attempts counter\nk8sjob_attempts_total{" in text
    assert text.endswith("\n# EOF\n")


def test_what_is_written_is_what_the_library_writes() -> None:
    assert_alike(registry_of(told))


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_label_survives(value: str) -> None:
    registry = registry_of(lambda: told(value, ledger=value))
    assert_alike(registry)
    for form in ({"open_metrics": True}, {"open_metrics": False}):
        families = read(ours(registry, **form), **form)
        (info,) = (family for family in families if family.name == "k8sjob_job_info")
        credit, _ = info.samples
        for label in ("owner", "kube_cronjob", "ledger"):
            assert credit.labels[label] == value


@given(st.text())
def test_any_text_survives(value: str) -> None:
    if value.isprintable() or value.encode("utf-8", "ignore").decode() == value:
        assert_alike(registry_of(lambda: told(value)))


def test_the_samples_of_a_family_are_a_sequence() -> None:
    (family,) = (f for f in registry_of(told).collect() if f.name == "k8sjob_unfinished_periods")
    assert len(family.samples) == 2 * len(STATES)
    assert next(iter(family.samples)) == family.samples[0]
    assert family.samples[-1].labels["cronjob"] == "vacuum"


def test_a_name_of_every_state_and_outcome_is_a_label() -> None:
    text = ours(registry_of(told), open_metrics=False)
    for name, words in (("state", STATES), ("outcome", OUTCOMES)):
        for word in words:
            assert f'namespace="ops",cronjob="vacuum",{name}="{word}"}}' in text


# ---------------------------------------------------------------------------------- out there


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (None, TEXT),
        ("", TEXT),
        ("*/*", TEXT),
        ("text/plain;version=0.0.4", TEXT),
        ("application/openmetrics-text; version=1.0.0; charset=utf-8", OPEN_METRICS),
        (PROMETHEUS, OPEN_METRICS),
    ],
)
def test_who_asks_for_open_metrics_gets_it(accept: str | None, kind: str) -> None:
    assert (OPEN_METRICS if choose(accept) else TEXT) == kind
    chosen = prometheus_client.exposition.choose_encoder(accept or "")[1]
    assert chosen.partition(";")[0] == kind.partition(";")[0]


@pytest.mark.usefixtures("promtool")
def test_promtool_has_nothing_to_say() -> None:
    """Of names, kinds, units and texts, by what Prometheus recommends."""
    text = ours(registry_of(lambda: told(HOSTILE["the end of a line"])), open_metrics=False)
    program = shutil.which("promtool")
    assert program
    done = subprocess.run(
        [program, "check", "metrics"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_a_ledger_says_survives_hostile_annotations(scraped: Scraped) -> None:
    values = {name: text.replace("\x00", "") for name, text in HOSTILE.items()}
    for number, text in enumerate(values.values()):
        scraped.track(f"ops/job-{number}", owner=text, severity=text)
    seen = scraped.scrape()
    for number, text in enumerate(values.values()):
        info = seen.info(f"ops/job-{number}")
        assert info["owner"] == info["severity"] == text
    assert_alike(registry_of(scraped.ledgers.read))
