from __future__ import annotations

import json
import logging

import pytest

from k8sjob import log
from k8sjob.errors import ConfigError


@pytest.mark.parametrize(
    ("env", "as_json"),
    [
        ({}, False),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, True),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "K8SJOB_LOG_FORMAT": "text"}, False),
        ({"K8SJOB_LOG_FORMAT": "json"}, True),
        ({"K8SJOB_LOG_FORMAT": ""}, False),
    ],
)
def test_logs_are_json_in_a_pod_and_text_for_a_person(env: dict[str, str], as_json: bool) -> None:  # noqa: FBT001
    assert log.wants_json(env) is as_json


def test_another_format_is_refused() -> None:
    with pytest.raises(ConfigError, match="neither json nor text"):
        log.wants_json({"K8SJOB_LOG_FORMAT": "xml"})


def test_a_json_line_holds_the_sentence_and_the_fields() -> None:
    record = logging.makeLogRecord(
        {
            "msg": "%s is\nüber",
            "args": ("a/b",),
            "levelname": "INFO",
            "event": "e",
            "key": "a/b:once",
        }
    )

    line = log.JsonFormatter().format(record)

    assert "\n" not in line
    fields = json.loads(line)
    assert fields["message"] == "a/b is\nüber"
    assert (fields["event"], fields["key"], fields["level"]) == ("e", "a/b:once", "info")
    assert fields["time"].endswith("Z")


def test_a_json_line_holds_a_traceback_as_one_field() -> None:
    error = KeyError("balance")
    record = logging.makeLogRecord({"msg": "x", "exc_info": (KeyError, error, None)})

    assert json.loads(log.JsonFormatter().format(record))["traceback"].endswith("'balance'")
