"""Where the images come from."""

from __future__ import annotations

from typing import Any

import pytest

from tests.chart.jobs import IMAGE, RUN, SIDECAR, containers, pod, pod_of, refusal, rendered

pytestmark = pytest.mark.usefixtures("helm")

MIRROR = {"global": {"imageRegistry": "mirror.example:5000/team/"}}


def _images(job: dict[str, Any], **top: Any) -> dict[str, str]:
    found = rendered(job, **top)
    all_of_them = containers(pod_of(found.one("CronJob"))) | containers(found.one("Pod")["spec"])
    return {name: one["image"] for name, one in all_of_them.items()}


def test_an_image_may_have_a_digest_and_a_job_an_image_of_its_own() -> None:
    digest = "sha256:" + "0" * 64
    own = {"image": {"repository": "other", "digest": digest}}
    assert containers(pod(RUN | own))["main"]["image"] == f"registry.example/other@{digest}"
    assert "neither tag nor digest" in refusal(RUN, image={"repository": "billing", "tag": ""})


def test_a_registry_for_all_comes_before_each_repository() -> None:
    assert _images(SIDECAR, **MIRROR) == {
        "main": "mirror.example:5000/team/billing:1.4",
        "resolve": "mirror.example:5000/team/k8sjob:0.1.0",
        "sidecar": "mirror.example:5000/team/k8sjob:0.1.0",
        "doctor": "mirror.example:5000/team/k8sjob:0.1.0",
    }


@pytest.mark.parametrize("first", ["registry.example", "registry:5000", "localhost"])
def test_a_registry_in_the_repository_is_taken_as_long_as_it_is_the_only_one(first: str) -> None:
    image = {"repository": f"{first}/shop/billing", "tag": "1.4"}
    assert _images(RUN, image=image)["main"] == f"{first}/shop/billing:1.4"
    assert _images(RUN, image=image | {"registry": ""})["main"] == f"{first}/shop/billing:1.4"


@pytest.mark.parametrize("first", ["registry.example", "registry:5000", "localhost"])
@pytest.mark.parametrize(
    ("top", "before"),
    [
        (MIRROR, "mirror.example:5000/team"),
        ({"image": {"registry": "other.example", "tag": "1"}}, "other.example"),
    ],
    ids=["of all charts", "the image's own"],
)
def test_a_registry_before_another_is_refused(first: str, top: dict[str, Any], before: str) -> None:
    """No such image: mirror.example/registry.example/shop/billing."""
    own = {"image": {"repository": f"{first}/shop/billing"}}
    said = refusal(RUN | own, **top)
    assert f"jobs.credit: its repository {first}/shop/billing begins with a registry" in said
    assert f"and {before} would come before it" in said
    assert f"write image.registry: {first} and image.repository: shop/billing" in said
    assert f"registry: {before}/{first}" in said


def test_so_is_one_before_that_of_k8sjobs_own_image() -> None:
    said = refusal(RUN, sidecarImage={"repository": "registry.example/k8sjob"}, **MIRROR)
    assert "sidecarImage: its repository registry.example/k8sjob begins with a registry" in said


def test_a_folder_is_no_registry() -> None:
    image = IMAGE | {"repository": "shop/team.eu/billing"}
    assert _images(RUN, image=image)["main"] == "registry.example/shop/team.eu/billing:1.4"
