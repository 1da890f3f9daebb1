from __future__ import annotations

import pytest

from k8sjob.duration import parse_duration
from k8sjob.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("30s", 30), ("5m", 300), ("2h", 7200), ("7d", 604800), (" 0s ", 0)],
)
def test_a_duration_is_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "30", "s", "-5s", "1.5h", "5 m", "1h30m", "٣s", "30S", "9" * 12 + "s"]
)
def test_another_form_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(UsageError, match="Write 30s, 5m, 2h or 7d"):
        parse_duration(text)
