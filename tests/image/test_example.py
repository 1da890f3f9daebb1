"""examples/daily-credit: its image, built as its README says, and its work done by it."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from tests.fix_docker import ROOT

if TYPE_CHECKING:
    from tests.image.job import Job

EXAMPLE = ROOT / "examples" / "daily-credit"
README = (EXAMPLE / "README.md").read_text("utf-8")
TYPED = [shlex.split(line) for line in re.findall(r"^\$ (.*)$", README, re.MULTILINE)]


def test_its_image_credits_a_day_once(job: Job) -> None:
    (build,) = [words for words in TYPED if words[:2] == ["docker", "build"]]
    (base,) = [word for word in build if word.startswith("BASE=")]
    image = job.docker.build(
        f"--build-arg={base.partition('=')[0]}={job.docker.image('entrypoint')}", context=EXAMPLE
    )
    shop = job.db.connect("admin", autocommit=True)
    shop.execute((EXAMPLE / "schema.sql").read_bytes())
    (grant,) = [words for words in TYPED if words[:2] == ["psql", "-c"]]
    for statement in grant[2::2]:
        shop.execute(statement.replace("shop_app", "k8sjob_runner").encode())

    runs = [words[1:] for words in TYPED if words[:2] == ["k8sjob", "run"]]
    first, second = (job.docker.run(*job.flags, image, *words) for words in runs)

    assert (first.code, second.code) == (0, 0), (first, second)
    assert "shop/daily-credit:2026-09-13 applied in" in first.out + first.err
    assert "shop/daily-credit:2026-09-13 duplicate: done" in second.out + second.err
    balances = job.query("SELECT name, balance::int FROM shop.accounts ORDER BY name")
    assert balances == [("alice", 10), ("bob", 15)]
    assert job.query("SELECT count(*) FROM shop.credits") == [(2,)]
