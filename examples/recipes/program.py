"""What the recipes have in common as programs: where the key comes from, what the exit code says.

From the repository's folder, with a table ``accounts`` in the ledger's database::

    export DATABASE_URL=postgresql://runner@localhost/business
    export K8SJOB_KEY=billing/daily-credit:2026-09-13
    python -m examples.recipes.psycopg_blocking 10
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import k8sjob

if TYPE_CHECKING:
    from collections.abc import Callable


# region: program
def main(credit: Callable[[str, k8sjob.Key, int], bool | None]) -> None:
    """Run ``credit`` for the period that this process was started for."""
    try:
        done = credit(os.environ["DATABASE_URL"], k8sjob.current_key(), int(sys.argv[1]))
    except k8sjob.NotApplied as refusal:
        print(refusal, file=sys.stderr)
        sys.exit(refusal.exit_code)  # 0 for a duplicate: there was nothing to do
    print("duplicate" if done is False else "applied")


# endregion
