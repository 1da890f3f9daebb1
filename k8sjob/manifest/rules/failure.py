"""Rules about podFailurePolicy.

What the API server refuses is measured on Kubernetes 1.34; the code is ``validatePodFailurePolicy``
in pkg/apis/batch/validation/validation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.errors import ExitCode
from k8sjob.manifest.calls import calls
from k8sjob.manifest.rule import Found
from k8sjob.manifest.shown import bare, clip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from k8sjob.manifest.case import Case
    from k8sjob.manifest.tree import Spot

#: k8sjob's own codes that ask for another try and for nothing else (FAILED is everybody's).
_TRY_AGAIN = (int(ExitCode.UNAVAILABLE), int(ExitCode.TRY_AGAIN))
_SHOWN = 40


def _rules(case: Case) -> Iterator[tuple[Spot, Spot]]:
    """Return each rule of the policy that is about exit codes, and its onExitCodes."""
    for rule in case.job_spec.under("podFailurePolicy", "rules").items():
        if (on := rule["onExitCodes"]).present:
            yield rule, on


def _codes(on: Spot) -> list[int]:
    """Return the exit codes, those that are whole numbers."""
    return [spot.number for spot in on["values"].items() if spot.number is not None]


def policy_needs_never(case: Case) -> Iterator[Found]:
    """Find a policy beside another restartPolicy than Never."""
    if not case.job_spec["podFailurePolicy"].present or not case.pod_spec["containers"].present:
        return
    spot = case.pod_spec["restartPolicy"]
    if spot.text != "Never":
        what = f"restartPolicy: {bare(spot.text)}" if spot.text else "no restartPolicy"
        yield Found(
            spot.at,
            f"podFailurePolicy beside {what}: Kubernetes refuses it: write restartPolicy: Never",
        )


def exit_codes_any_container(case: Case) -> Iterator[Found]:
    """Find exit codes without the name of a container."""
    names = [name for spot in case.pod_spec["containers"].items() if (name := spot["name"].text)]
    wanted = bare(names[0]) if names else "NAME"
    for _, on in _rules(case):
        if not on["containerName"].present:
            yield Found(
                on.at,
                "onExitCodes without containerName is about every container, a sidecar or an "
                f"injected one too: write containerName: {wanted}",
            )


def exit_codes_order(case: Case) -> Iterator[Found]:
    """Find exit codes that are not in ascending order, or stand there twice."""
    for _, on in _rules(case):
        codes = _codes(on)
        right = sorted(set(codes))
        if codes != right:
            if on["operator"].text == "In":
                right = [code for code in right if code]
            shown = ", ".join(map(str, right[:_SHOWN])) + (", …" if len(right) > _SHOWN else "")
            yield Found(
                on["values"].at,
                "the exit codes are not in ascending order, each once, and Kubernetes refuses "
                f"them: write values: [{shown}]",
            )


def exit_code_zero(case: Case) -> Iterator[Found]:
    """Find 0 among the codes that fail."""
    for _, on in _rules(case):
        if on["operator"].text == "In" and 0 in _codes(on):
            yield Found(
                on["values"].at,
                "exit code 0 stands in values of the operator In, and Kubernetes refuses it, "
                "since 0 is no failure: take it out",
            )


def unknown_container(case: Case) -> Iterator[Found]:
    """Find a containerName that no container has."""
    names = {spot["name"].text for spot in case.containers()}
    known = sorted(name for name in names if name)
    for _, on in _rules(case):
        name = on["containerName"].text
        if name and known and name not in names:
            yield Found(
                on["containerName"].at,
                f"there is no container {clip(name)}, and Kubernetes refuses the policy: write "
                f"{bare(' or '.join(known))}",
            )


def pod_replacement(case: Case) -> Iterator[Found]:
    """Find a replacement of Pods that still run, which no policy goes with."""
    spot = case.job_spec["podReplacementPolicy"]
    if case.job_spec["podFailurePolicy"].present and spot.text not in {None, "Failed"}:
        yield Found(
            spot.at,
            f"podFailurePolicy beside podReplacementPolicy: {bare(spot.text)}: Kubernetes "
            "refuses it: write podReplacementPolicy: Failed, or take the line away",
        )


def retry_code_fails(case: Case) -> Iterator[Found]:
    """Find a policy that gives up where k8sjob asks for another try."""
    ours = {spot["name"].text for spot in case.containers() if calls(spot).commands}
    for rule, on in _rules(case):
        container = on["containerName"].text
        if rule["action"].text != "FailJob" or not (container in ours if container else ours):
            continue
        if codes := _given_up(on):
            what = f"{' and '.join(map(str, codes))} as final, though k8sjob asks for another try"
            yield Found(on["values"].at, f"FailJob takes exit code {what}: {_instead(on, codes)}")


def _given_up(on: Spot) -> list[int]:
    codes, operator = _codes(on), on["operator"].text
    if operator == "In":
        return [code for code in _TRY_AGAIN if code in codes]
    return [code for code in _TRY_AGAIN if code not in codes] if operator == "NotIn" else []


def _instead(on: Spot, codes: list[int]) -> str:
    some = " and ".join(map(str, codes))
    return f"take {some} out" if on["operator"].text == "In" else f"add {some} to the values"
