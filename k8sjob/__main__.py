"""``python -m k8sjob``."""

from __future__ import annotations

from k8sjob.cli.main import main

if __name__ == "__main__":
    main()
