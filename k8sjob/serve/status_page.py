"""The two pages that people look at."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from k8sjob.serve import one_job, overview
from k8sjob.serve.job_page import compose
from k8sjob.serve.watching import Watch, watches
from k8sjob.view.gaps import notes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from k8sjob.serve.board import Seen
    from k8sjob.serve.pages import Pages
    from k8sjob.serve.site import Site
    from k8sjob.serve.web import Answer, Request


class StatusPage:
    """Reads the ledgers, and shows what is in them."""

    def __init__(self, site: Site, pages: Pages) -> None:
        """Take whose ledgers are read, and what renders."""
        self._site = site
        self._pages = pages

    def overview(self, request: Request) -> Answer:
        """Return all jobs, a page of them. Raises UsageError."""
        filters = overview.read_filters(request)
        answers = self._site.overview()
        found = overview.entries(answers)
        shown = overview.chosen(found, filters)
        on_page, pages = overview.page_of(shown, filters)
        several = self._site.several
        return self._pages.render(
            "overview.html",
            request,
            HTTPStatus.OK if answers else HTTPStatus.SERVICE_UNAVAILABLE,
            filters=filters,
            unfinished=overview.UNFINISHED,
            tiles=overview.tiles(found),
            choices=overview.choices(found, self._site.shelves),
            told=overview.told(len(shown), len(found)),
            rows=[overview.row(entry, request.root, with_ledger=several) for entry in on_page],
            page=min(filters.page, pages),
            pages=pages,
            several=several,
            away=answers.away,
            watched=_watched(answers),
            notes=[note for seen in answers.values() for note in notes(seen.snapshot)],
            now=min((seen.snapshot.now for seen in answers.values()), default=None),
        )

    def job(self, request: Request, namespace: str, name: str) -> Answer:
        """Return a job. Raises NotThere, UsageError, InvalidKey, and what readers raise."""
        wanted = one_job.read_wanted(request, namespace, name)
        answers = self._site.read(
            wanted.ledger,
            lambda reader: one_job.look(reader, wanted, self._site.now(reader)),
        )
        if not answers:
            raise answers.refusal()
        ledger, found = next(iter(answers.items()))
        others = [other for other in answers if other != ledger]
        return self._pages.render(
            "job.html",
            request,
            page=compose(found, wanted, request.root),
            ledger=ledger if self._site.several else "",
            others=[
                (other, overview.link_to(str(wanted.job), other, request.root)) for other in others
            ],
            away=answers.away,
        )


def _watched(answers: Mapping[str, Seen]) -> list[tuple[str, Watch]]:
    return [
        (name, watch)
        for name, seen in answers.items()
        for watch in watches(seen.snapshot.jobs.values(), seen.passes, seen.snapshot.now)
    ]
