"""The process group of a command, alive or not."""

from __future__ import annotations

import logging
import os
import signal

from k8sjob.run.child.telling import tell


class Group:
    """Takes signals until it is known to be empty: its id may then become somebody else's."""

    def __init__(self, pgid: int) -> None:
        """Stand for the group that the process ``pgid`` leads or has led."""
        self._pgid = pgid
        self._empty = False

    def send(self, number: int) -> None:
        """Send a signal to every process of the group."""
        if self._empty:
            return
        try:
            os.killpg(self._pgid, number)
        except ProcessLookupError:
            self._empty = True
        except PermissionError:
            if number:
                self._is_out_of_reach(number)

    def is_empty(self) -> bool:
        """Whether nobody is left, not even unreaped."""
        self.send(0)
        return self._empty

    def _is_out_of_reach(self, number: int) -> None:
        tell(
            logging.WARNING,
            "%s could not be sent to the command: it runs as another user. It runs on."
            " Run k8sjob as that user, and the command without sudo or su.",
            signal.Signals(number).name,
            event="signal_denied",
        )
