from __future__ import annotations

from typing import TYPE_CHECKING

from tests.supervise.supervised import python

if TYPE_CHECKING:
    from tests.supervise.conftest import Start

#: A hundred processes whose parents have ended, and which wait for the end of a pipe.
HUNDRED_ORPHANS = """
gate, open_gate = os.pipe()
hear, tell = os.pipe()
for _ in range(100):
    if os.fork() == 0:
        if os.fork() == 0:
            os.close(open_gate)
            os.write(tell, b"%9d\\n" % os.getpid())
            os.read(gate, 1)
        os._exit(0)
    os.wait()
orphans = [int(os.read(hear, 10)) for _ in range(100)]
"""


def test_a_hundred_orphans_are_reaped_while_the_command_runs(supervise: Start) -> None:
    supervised = supervise(
        python(
            HUNDRED_ORPHANS
            + """
parents = {open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1] for pid in orphans}
assert parents == {str(os.getppid())}, parents
os.close(open_gate)
import time
give_up = time.monotonic() + 20
while left := [pid for pid in orphans if os.path.exists(f"/proc/{pid}")]:
    if time.monotonic() > give_up: sys.exit(f"{len(left)} are left unreaped")
sys.exit(7)
"""
        )
    )

    report = supervised.report()

    assert report.end.exit_code == 7, report.err


def test_the_commands_own_status_is_not_lost_among_a_hundred_others(supervise: Start) -> None:
    at_once = python(HUNDRED_ORPHANS + "os.close(open_gate); os._exit(7)")

    ends = supervise(*[at_once] * 2).report().ends

    assert [end.exit_code for end in ends] == [7] * 2
