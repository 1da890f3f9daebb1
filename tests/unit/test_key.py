"""A key says which period of which job, in one argument; a wrong one says which piece is wrong."""

from __future__ import annotations

import copy
import pickle
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from k8sjob.errors import InvalidKey
from k8sjob.key import JobName, Key, KeyRange
from k8sjob.period import Cycle, Period

JOB = JobName("billing", "daily-credit")
KEY = "billing/daily-credit:2026-09-13T00:00:00Z"


# ---------------------------------------------------------------------------------------- jobs


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("billing/daily-credit", ("billing", "daily-credit", None)),
        (
            "billing/daily-credit/load.eu@2=a+b~c-_",
            ("billing", "daily-credit", "load.eu@2=a+b~c-_"),
        ),
        ("b/c/D", ("b", "c", "D")),
        ("0/a.b-c.9", ("0", "a.b-c.9", None)),
        (f"{'n' * 63}/{'j' * 253}/{'p' * 200}", ("n" * 63, "j" * 253, "p" * 200)),
    ],
    ids=["job", "part", "one letter each", "digits and dots", "as long as can be"],
)
def test_a_job_name_is_read_piece_by_piece(text: str, pieces: tuple[str, str, str | None]) -> None:
    job = JobName.parse(text)
    assert (job.namespace, job.name, job.part) == pieces
    assert str(job) == text


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("Billing/x", "namespace 'Billing'"),
        ("bil.ling/x", "namespace 'bil.ling'"),
        ("-b/x", "namespace '-b'"),
        ("b-/x", "namespace 'b-'"),
        ("/x", "namespace ''"),
        (f"{'n' * 64}/x", "namespace 'nnn"),
        ("b\n/x", r"namespace 'b\\n'"),
        ("b/", "name ''"),
        ("b/X", "name 'X'"),
        ("b/x_y", "name 'x_y'"),
        ("b/x y", "name 'x y'"),
        ("b/a..b", r"name 'a\.\.b'"),
        ("b/.a", r"name '\.a'"),
        ("b/a.", r"name 'a\.'"),
        ("b/a:b", "name 'a:b'"),
        ("b/x\n", r"name 'x\\n'"),
        ("b/é", "name 'é'"),
        ("b/٣", "name '٣'"),
        (f"b/{'j' * 254}", "name 'jjj"),
        ("b/x/", "part ''"),
        ("b/x/-a", "part '-a'"),
        ("b/x/a..b", r"part 'a\.\.b'"),
        ("b/x/a:b", "part 'a:b'"),
        ("b/x/a b", "part 'a b'"),
        ("b/x/a\n", r"part 'a\\n'"),
        ("b/x/ü", "part 'ü'"),
        (f"b/x/{'p' * 201}", "part 'ppp"),
    ],
)
def test_a_job_name_that_breaks_a_rule_is_refused_by_the_piece(text: str, piece: str) -> None:
    with pytest.raises(InvalidKey, match=f"^{piece}.*so nothing was done for that job: write"):
        JobName.parse(text)


def test_the_pieces_are_checked_however_a_job_name_is_made() -> None:
    with pytest.raises(InvalidKey, match=r"namespace 'Billing'.* write billing "):
        JobName("Billing", "x")
    with pytest.raises(InvalidKey, match="part ''"):
        JobName("billing", "x", "")
    with pytest.raises(InvalidKey, match="name None is a NoneType and not a text"):
        JobName("billing", cast("Any", None))


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("daily-credit", "write NAMESPACE/daily-credit"),
        ("a/b/c/d", "a part has no '/'"),
    ],
)
def test_a_job_name_of_too_few_or_too_many_pieces_is_refused(text: str, advice: str) -> None:
    with pytest.raises(InvalidKey) as caught:
        JobName.parse(text)
    assert str(caught.value).endswith(f"so nothing was done for it: {advice}.")


def test_the_job_of_a_part_is_the_job_without_it() -> None:
    assert JobName.parse("billing/daily-credit/load").job == JOB
    assert JOB.job is JOB


def test_job_names_sort_as_their_texts_do_in_the_ledger() -> None:
    texts = ["a-b/x", "a/x", "a/x-y", "a/x.y", "a/x/0", "a/x/a", "aa/x"]
    assert [str(job) for job in sorted(map(JobName.parse, reversed(texts)))] == sorted(texts)


# ---------------------------------------------------------------------------------------- keys


@pytest.mark.parametrize("period", ["2026-09-13T00:00:00Z", "2026-09-13", "2026-W37", "once"])
@pytest.mark.parametrize("job", ["billing/daily-credit", "billing/daily-credit/load"])
def test_a_key_is_split_at_its_first_colon(job: str, period: str) -> None:
    key = Key.parse(f"{job}:{period}")
    assert (key.job, key.period) == (JobName.parse(job), Period.parse(period))
    assert str(key) == f"{job}:{period}"


def test_a_key_can_be_made_of_objects_texts_and_instants() -> None:
    instant = datetime(2026, 9, 13, tzinfo=UTC)
    period = Period.at(instant)
    made = [
        Key(JOB, period),
        Key.parse(KEY),
        Key.of(JOB, period),
        Key.of("billing/daily-credit", "2026-09-13T00:00:00Z"),
        Key.of("billing/daily-credit", instant),
    ]
    assert {str(key) for key in made} == {KEY}
    assert len(set(made)) == 1


def test_a_naive_datetime_makes_no_key() -> None:
    with pytest.raises(InvalidKey, match="pass an aware datetime"):
        Key.of(JOB, datetime(2026, 9, 13))  # noqa: DTZ001  # that is the point


def test_texts_given_to_the_constructor_make_no_key() -> None:
    text = cast("Any", "billing/daily-credit")
    with pytest.raises(InvalidKey, match=r"is a str where a JobName is needed.*use Key\.of"):
        Key(text, Period("once"))
    with pytest.raises(InvalidKey, match=r"is a str where a Period is needed.*use Key\.of"):
        Key(JOB, cast("Any", "once"))
    with pytest.raises(InvalidKey, match="is a str where a JobName is needed"):
        KeyRange(text, Period("2026-01"), Period("2026-03"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("billing/x", "names no period, so nothing was done for it: write billing/x:PERIOD, e.g."),
        ("b/x:", "key 'b/x:': period '' is not written as a period is"),
        (":once", "key ':once': job name '' is not NAMESPACE/NAME"),
        ("x:once", "write NAMESPACE/x."),
        ("b/X:once", "key 'b/X:once': name 'X' in a job's name breaks the rules"),
        ("b/x:2026-9-3", "key 'b/x:2026-9-3': period '2026-9-3' is not"),
        ("b/x:2026-9-3", "write 2026-09-03."),
        ("b/x:once:once", "period 'once:once' is not"),
        ("b/x: once", "period ' once' is not"),
        (KEY + "\n", "write 2026-09-13T00:00:00Z."),
        ("b/x:2026-01..2026-03", "is a range of periods where one is wanted"),
        ("b/x:2026-01..2026-03", "write one of its periods, e.g. b/x:2026-01."),
    ],
)
def test_the_message_names_the_key_the_piece_and_what_would_be_right(
    text: str, message: str
) -> None:
    with pytest.raises(InvalidKey) as caught:
        Key.parse(text)
    assert repr(text) in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("value", [None, b"b/x:once", 7])
def test_what_is_not_a_text_makes_no_key(value: Any) -> None:
    for parse in (Key.parse, KeyRange.parse, JobName.parse):
        with pytest.raises(InvalidKey, match="not a text, so nothing was done for it"):
            parse(value)


def test_keys_sort_by_job_and_then_by_period() -> None:
    texts = ["a/x:2026-02", "a/x:2026-10", "b/x:2026-01", "b/x/p:2026-01"]
    assert [str(key) for key in sorted(map(Key.parse, reversed(texts)))] == texts


def test_a_key_survives_pickle_and_copy_and_stays_what_it_is() -> None:
    key = Key.parse("billing/daily-credit/load:2026-W37")
    assert pickle.loads(pickle.dumps(key)) == copy.deepcopy(key) == key  # noqa: S301
    with pytest.raises(AttributeError):
        setattr(key, "period", Period("once"))  # noqa: B010  # mypy refuses the plain form


# -------------------------------------------------------------------------------------- ranges


def test_a_range_is_read_with_both_its_ends() -> None:
    keys = KeyRange.parse("billing/daily-credit:2026-01..2026-03")
    assert keys == KeyRange(JOB, Period("2026-01"), Period("2026-03"))
    assert (str(keys), keys.cycle) == ("billing/daily-credit:2026-01..2026-03", Cycle.MONTH)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("b/x:2026-01", True),
        ("b/x:2026-02", True),
        ("b/x:2026-03", True),
        ("b/x:2025-12", False),
        ("b/x:2026-04", False),
        ("b/x:2026-02-01", False),
        ("b/y:2026-02", False),
        ("b/x/part:2026-02", False),
    ],
)
def test_a_key_is_in_a_range_of_its_job_and_cycle(text: str, inside: bool) -> None:  # noqa: FBT001
    assert (Key.parse(text) in KeyRange.parse("b/x:2026-01..2026-03")) is inside


def test_a_range_of_one_period_is_a_range() -> None:
    text = "b/x:2026-09-13T00:00:00Z..2026-09-13T00:00:00Z"
    assert str(KeyRange.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("b/x", "range 'b/x' names no period"),
        (
            "b/x:2026-01",
            "has one end only, so nothing was done for it: write b/x:FIRST..LAST, e.g.",
        ),
        ("b/x:2026-01..", "period '' is not"),
        ("b/x:..2026-01", "period '' is not"),
        ("b/x:2026-01..2026-02..2026-03", "period '2026-02..2026-03' is not"),
        ("b/x:2026-01...2026-03", "period '.2026-03' is not"),
        (
            "b/x:2026-03..2026-01",
            "ends before it starts, so nothing was done for it: write 2026-01",
        ),
        ("b/x:2026-01..2026-01-03", "from the cycle month to day"),
        ("b/X:2026-01..2026-03", "name 'X' in a job's name breaks the rules"),
    ],
)
def test_a_range_that_is_none_is_refused_by_the_piece(text: str, message: str) -> None:
    with pytest.raises(InvalidKey) as caught:
        KeyRange.parse(text)
    assert str(caught.value).startswith(f"range {text!r}")
    assert message in str(caught.value)
