from __future__ import annotations

import array
import fcntl
import os
import select
import selectors
import signal
import subprocess
import termios
from typing import TYPE_CHECKING

import pytest

from k8sjob.run.child.relay import Relay
from k8sjob.run.child.tail import Tail
from tests.supervise.supervised import PATIENCE_S, python, shell, wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.supervise.conftest import Start

EVERY_BYTE = bytes(range(256)) * 1000


FULL = 65536


def full_pipe() -> tuple[int, int]:
    """Return a pipe that takes nothing until somebody reads from it."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, FULL)
    os.write(writing, b"x" * FULL)
    return reading, writing


def _unread(pipe: int) -> int:
    there = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, there)
    return there[0]


@pytest.mark.parametrize("output_bytes", [0, 10, 10_000_000])
def test_both_streams_pass_through_unchanged_and_apart(supervise: Start, output_bytes: int) -> None:
    report = supervise(
        python(
            """
for at in range(0, 256_000, 1000):
    part = bytes(range(256)) * 4
    os.write(1, (bytes(range(256)) * 1000)[at : at + 1000])
    os.write(2, (bytes(range(256)) * 1000)[at : at + 1000][::-1])
"""
        ),
        output_bytes=output_bytes,
    ).report()

    backwards = b"".join(EVERY_BYTE[at : at + 1000][::-1] for at in range(0, 256_000, 1000))
    assert report.out == EVERY_BYTE
    assert report.err == backwards


def test_output_passes_at_once(supervise: Start) -> None:
    supervised = supervise(python('os.write(1, b"no line yet"); wait_for_go()'))

    assert os.read(supervised.stdout.fileno(), 100) == b"no line yet"

    supervised.go()
    assert supervised.end().exit_code == 0


def test_what_both_streams_said_last_is_kept_in_its_order(supervise: Start) -> None:
    """Each write is passed on before the next is made, since only then is there an order."""
    supervised = supervise(
        python(
            """
for fd, text in [(1, b"one\\n"), (2, b"two\\n"), (1, b"three\\n"), (2, b"four\\n")]:
    os.write(fd, text)
    wait_for_go()
"""
        ),
        output_bytes=15,
    )
    assert supervised.process.stderr is not None
    for _ in range(2):
        for stream in (supervised.stdout, supervised.process.stderr):
            os.read(stream.fileno(), 100)
            supervised.go()

    assert supervised.end().tail == "[4 bytes before this were left out]\ntwo\nthree\nfour\n"


def test_nothing_is_kept_where_nothing_is_wanted(supervise: Start) -> None:
    report = supervise(shell("echo out; echo err >&2"), output_bytes=0).report()

    assert (report.out, report.err, report.end.tail) == (b"out\n", b"err\n", "")


def test_where_nothing_is_kept_the_command_writes_to_our_output_itself(
    supervise: Start, tmp_path: Path
) -> None:
    where = shell('readlink "/proc/$$/fd/1"')
    with (tmp_path / "log").open("wb") as log:
        supervise(where, output_bytes=0, stdout=log).end()

    assert (tmp_path / "log").read_text() == f"{tmp_path / 'log'}\n"


def test_a_gigabyte_costs_no_memory(supervise_once: Start) -> None:
    size = 2**30
    with subprocess.Popen(
        ["/usr/bin/wc", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as counter:
        supervised = supervise_once(["head", "-c", str(size), "/dev/zero"], stdout=counter.stdin)
        counted, _ = counter.communicate(timeout=2 * PATIENCE_S)

    report = supervised.report()
    assert int(counted) == size
    assert report.grown_kb < 5000
    assert report.end.tail.startswith("[1,073,737,728 bytes before this were left out]\n")


def test_output_goes_to_a_file_as_well(supervise: Start, tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        end = supervise(shell("seq 100000"), stdout=log).end()

    assert (tmp_path / "log").read_text().splitlines() == [str(n) for n in range(1, 100001)]
    assert end.tail.endswith("99999\n100000\n")


def test_a_command_that_closes_its_output_runs_on(supervise: Start) -> None:
    supervised = supervise(shell("echo last words; exec >&- 2>&-; say closed; read -r go; exit 6"))
    assert supervised.word() == "closed"

    supervised.stdin.write(b"go\n")
    supervised.stdin.flush()

    report = supervised.report()
    assert (report.end.exit_code, report.out) == (6, b"last words\n")


def test_a_reader_that_goes_away_ends_neither_the_command_nor_us(supervise: Start) -> None:
    supervised = supervise(
        python(
            """
say("ready")
wait_for_go()
os.write(1, b"x" * 999_999 + b".")
say("on")
sys.exit(6)
"""
        )
    )
    assert supervised.word() == "ready"

    supervised.stdout.close()
    supervised.process.stdout = None
    supervised.go()

    assert supervised.word() == "on"
    report = supervised.report()
    assert report.end.exit_code == 6
    assert report.end.tail.endswith("xxx.")
    assert b"output 1 of the command is not passed on any more: Broken pipe" in report.err


def test_a_reader_that_takes_its_time_gets_all_of_it(supervise: Start) -> None:
    supervised = supervise(
        python('os.write(1, b"x" * 120_000 + b"."); say("written"); wait_for_go()'),
        waits={"STUCK_S": 30},
    )
    assert supervised.word() == "written"  # it fits into the pipes
    supervised.go_to_the_end()

    assert supervised.report().out == b"x" * 120_000 + b"."


def test_a_reader_that_is_stuck_holds_up_neither_a_kill_nor_the_end(supervise: Start) -> None:
    """Neither the output nor our own log lines can be written."""
    out, out_end = full_pipe()
    supervised = supervise(
        python(
            """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(1, b"x" * 65536)
say("written")
while True: os.write(1, b"x" * 65536)
"""
        ),
        stdout=out_end,
        stderr=out_end,
        waits={"STUCK_S": 0.05},
        grace_s=0.05,
    )
    assert supervised.word() == "written"
    os.read(out, select.PIPE_BUF)  # a little is taken, and no more
    wait_until(lambda: _unread(out) == FULL)

    supervised.signal(signal.SIGTERM)

    assert supervised.end().killed
    os.close(out)
    os.close(out_end)


def test_two_streams_to_one_place_mix_by_lines() -> None:
    """What is written at once ends with a line, though more would fit."""
    source, source_end = os.pipe()
    sink, sink_end = full_pipe()
    os.write(source_end, (b"." * 99 + b"\n") * 100)
    with selectors.PollSelector() as selector:
        relay = Relay(source, sink_end, Tail(10), selector)
        _turn(selector)  # reads, and finds the other pipe full
        os.read(sink, select.PIPE_BUF)
        _turn(selector)  # writes what now has room
        relay.close()

    os.close(sink_end)
    os.close(source_end)
    with os.fdopen(sink, "rb") as rest:
        written = rest.read()[FULL - select.PIPE_BUF :]
    assert written == (b"." * 99 + b"\n") * 40


def _turn(selector: selectors.BaseSelector) -> None:
    ((key, _),) = selector.select(PATIENCE_S)
    key.data()


def test_what_a_stuck_reader_did_not_take_is_kept_all_the_same(supervise: Start) -> None:
    out, out_end = full_pipe()

    end = supervise(
        python('os.write(1, b"x" * 65536); os.write(1, b"the last words")'),
        stdout=out_end,
        waits={"STUCK_S": 0.05},
    ).end()

    assert end.tail.endswith("xthe last words")
    os.close(out)
    os.close(out_end)


def test_without_standard_descriptors_it_still_works(supervise: Start) -> None:
    end = supervise(
        shell("echo out; echo err >&2; exit 6"),
        inside=["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"],
    ).end()

    assert end.exit_code == 6
    assert sorted(end.tail.splitlines()) == ["err", "out"]


def test_what_is_not_text_is_replaced(supervise: Start) -> None:
    end = supervise(python(r'os.write(1, "gr\u00fcn ".encode() + b"\xff\x00.")')).end()

    assert end.tail == "grün \ufffd\ufffd."
