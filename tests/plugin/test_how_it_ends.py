"""Exit codes, what is data and what is talk, and a connection that is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from k8sjob.cli.attached import ENDED

if TYPE_CHECKING:
    from tests.plugin.conftest import Laptop

NOISE = "command terminated with exit code 1"


@pytest.mark.parametrize("code", [0, 1, 64, 66, 69, 75, 77, 78, 126, 127, 137, 255])
def test_exit_codes_are_those_of_the_command(laptop: Laptop, code: int) -> None:
    laptop.cluster.code = code

    assert laptop.call("get", "jobs") == (code, "", "")


def test_data_and_talk_stay_apart(laptop: Laptop) -> None:
    laptop.cluster.out = '{"jobs": []}\n'
    laptop.cluster.err = "no jobs found\n"
    laptop.cluster.code = 1

    assert laptop.call("get", "jobs", "-o", "json") == (1, '{"jobs": []}\n', "no jobs found\n")


@pytest.mark.parametrize(
    "said",
    [
        f"{NOISE}\n",
        f"{NOISE}\n{NOISE}\nand more\n",
        f"{ENDED.format('x')}\n",
        f"  leading\n\\back\\slash\n\n\n-n\n{NOISE} or so\n",
        "é€\n",
    ],
)
@pytest.mark.parametrize("code", [0, 1])
def test_only_the_last_line_is_left_out(laptop: Laptop, said: str, code: int) -> None:
    laptop.cluster.err, laptop.cluster.code = said, code

    assert laptop.call("get", "jobs") == (code, "", said)


@pytest.mark.parametrize("code", [0, 1])
def test_a_lost_connection_is_no_end_of_the_command(laptop: Laptop, code: int) -> None:
    laptop.cluster.lost = True
    laptop.cluster.code = code
    laptop.cluster.err = "error: error reading from error stream\n" if code else ""

    told = laptop.call("backfill", "billing/daily-credit", "--missing", "--wait")

    assert told.code == 69
    assert told.err.startswith(laptop.cluster.err)
    assert "how the command ended is not known" in told.err
    assert "See what there is before it is given again: kubectl k8sjob get periods" in told.err


def test_what_kubectl_says_after_the_end_changes_nothing(laptop: Laptop) -> None:
    laptop.cluster.err = "talk\n"
    laptop.cluster.after = "E1129 websocket.go:296] Unknown stream id 1, discarding message\n"

    assert laptop.call("get", "jobs") == (0, "", f"talk\n{laptop.cluster.after}")


def test_an_end_that_the_command_told_is_believed(laptop: Laptop) -> None:
    laptop.cluster.runs, laptop.cluster.ends = True, 1

    told = laptop.call("version")

    assert (told.code, told.err) == (0, "error: connection reset by peer\n")
    assert told.out.startswith("k8sjob ")


def test_a_connection_that_is_lost_while_data_goes_there(laptop: Laptop) -> None:
    laptop.cluster.lost = True

    assert laptop.call("lint", "-", stdin=b"kind: CronJob").code == 69


def test_what_breaks_off_in_mid_line_is_shown(laptop: Laptop) -> None:
    laptop.cluster.lost, laptop.cluster.err = True, f"{NOISE}\nhalf a li"

    told = laptop.call("get", "jobs")

    assert told.code == 69
    assert told.err.startswith(f"{NOISE}\nhalf a li")
