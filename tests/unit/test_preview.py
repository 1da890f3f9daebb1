"""``k8sjob preview`` shows when a schedule fires, and what surprises about it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from k8sjob.cli.main import main
from k8sjob.errors import ExitCode

BERLIN = ["30 2 * * *", "--time-zone", "Europe/Berlin", "--from", "2026-10-23", "--count", "4"]


@pytest.fixture
def preview(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the command; the exit code, and what it printed to standard output and error."""

    def run(*args: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["preview", *args])
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return run


def test_periods_are_shown_in_utc_and_in_the_zones_time(preview: Any) -> None:
    code, out, err = preview(*BERLIN)
    assert out == (
        "#  UTC                   EUROPE/BERLIN\n"
        "1  2026-10-23T00:30:00Z  Fri 23 Oct 02:30 +02:00\n"
        "2  2026-10-24T00:30:00Z  Sat 24 Oct 02:30 +02:00\n"
        "3  2026-10-25T00:30:00Z  Sun 25 Oct 02:30 +02:00\n"
        "4  2026-10-25T01:30:00Z  Sun 25 Oct 02:30 +01:00"
        "  ← the hour happens twice, so does the job\n"
        "Fires twice on Sun 25 Oct 2026 (2 periods): clocks show 02:30 twice.\n"
        "Does not fire at all on Sun 28 Mar 2027: 02:30 does not exist.\n"
        "If once is meant, choose an hour outside 02:00 to 03:00, or a daily cycle: "
        "k8sjob.io/cycle: day\n"
    )
    assert (code, err) == (0, "")


def test_json_has_the_same(preview: Any) -> None:
    code, out, _ = preview(*BERLIN, "-o", "json")
    shown = json.loads(out)
    assert code == 0
    assert (shown["schedule"], shown["timeZone"]) == ("30 2 * * *", "Europe/Berlin")
    assert shown["periods"][2:] == [
        {
            "period": "2026-10-25T00:30:00Z",
            "local": "2026-10-25T02:30:00+02:00",
            "note": None,
        },
        {
            "period": "2026-10-25T01:30:00Z",
            "local": "2026-10-25T02:30:00+01:00",
            "note": "the hour happens twice, so does the job",
        },
    ]
    assert [remark["kind"] for remark in shown["remarks"]] == ["twice", "left-out"]
    assert shown["remarks"][0]["periods"] == ["2026-10-25T01:30:00Z"]
    assert set(shown["remarks"][0]) == {"kind", "text", "advice", "periods"}


def test_a_schedule_that_never_fires_ends_with_1(preview: Any) -> None:
    code, out, err = preview("0 0 30 2 *")
    assert out == (
        "Never fires: no month that it names has a day 30. Kubernetes takes it, and starts "
        "nothing.\nWrite a day up to 29.\n"
    )
    assert (code, err) == (1, "")


def test_a_delay_is_refused_with_what_to_write_instead(preview: Any) -> None:
    code, out, err = preview("@every 2h")
    assert (code, out) == (ExitCode.CONFIG, "")
    assert err.startswith("k8sjob: schedule '@every 2h' counts from one start to the next")
    assert err.endswith("write five fields instead, e.g. '0 */2 * * *'.\n")


def test_a_wrong_schedule_is_refused(preview: Any) -> None:
    code, out, err = preview("0 0 * * 7")
    assert (code, out) == (ExitCode.CONFIG, "")
    assert "write 0 or sun for Sunday" in err


def test_the_first_period_may_be_the_start_itself(preview: Any) -> None:
    for start in ("2026-10-23T00:30:00Z", "2026-10-23T02:30:00+02:00", "2026-10-23T00:29:59.5Z"):
        _, out, _ = preview(*BERLIN, "--from", start)
        assert "1  2026-10-23T00:30:00Z" in out
    _, out, _ = preview(*BERLIN, "--from", "2026-10-23T00:30:00.5Z")
    assert "1  2026-10-24T00:30:00Z" in out


def test_a_day_starts_by_the_zones_clocks(preview: Any) -> None:
    _, out, _ = preview("0 * * * *", "--time-zone", "Asia/Kolkata", "--from", "2026-10-23")
    assert out.splitlines()[1] == "1   2026-10-22T18:30:00Z  Fri 23 Oct 00:00 +05:30"


@pytest.mark.parametrize(
    ("start", "wrong"),
    [
        ("tomorrow", "is neither a day nor an instant"),
        ("2026-10-32", "is neither a day nor an instant"),
        ("2026-10-23T00:00:00", "has no time zone"),
        ("0001-01-01T00:00:00Z", "is not in the years 1970 to 2999"),
        ("0001-01-01", "is not in the years 1970 to 2999"),
    ],
)
def test_a_start_that_is_none_is_a_usage_error(preview: Any, start: str, wrong: str) -> None:
    code, out, err = preview("@daily", "--from", start)
    assert (code, out) == (ExitCode.USAGE, "")
    assert err == (
        f"k8sjob: --from {start!r} {wrong}, so nothing was previewed: write 2026-10-23 or "
        "2026-10-23T00:00:00Z.\n"
    )


def test_without_a_start_it_is_now(preview: Any) -> None:
    before = datetime.now(UTC)
    _, out, _ = preview("* * * * *", "--count", "1", "-o", "json")
    (period,) = json.loads(out)["periods"]
    first = datetime.fromisoformat(period["period"])
    assert 0 <= (first - before).total_seconds() <= 120


def test_the_zone_comes_from_the_flag_then_the_environment_then_is_utc(
    preview: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def zone_of(*args: str) -> str:
        return str(json.loads(preview("@daily", "-o", "json", *args)[1])["timeZone"])

    assert zone_of() == "Etc/UTC"
    monkeypatch.setenv("K8SJOB_TIME_ZONE", "Europe/Rome")
    assert zone_of() == "Europe/Rome"
    assert zone_of("--time-zone", "Asia/Tokyo") == "Asia/Tokyo"
    assert zone_of("--time-zone", "Asia/Tokyo", "--count", "3") == "Asia/Tokyo"


def test_notes_reach_as_far_as_the_periods_do(preview: Any) -> None:
    _, out, _ = preview("30 2 31 10 *", *BERLIN[1:5], "--count", "9")
    marked = [line.split()[1] for line in out.splitlines() if "←" in line]
    assert marked == ["2027-10-31T01:30:00Z", "2032-10-31T01:30:00Z"]
