"""Django 5: ``transaction.atomic`` owns the transaction, psycopg's connection is below it."""

from __future__ import annotations

import os

import django
from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import F
from psycopg.conninfo import conninfo_to_dict

import k8sjob
from examples.recipes.program import main


def database(url: str) -> dict[str, object]:
    """Return ``url`` as an entry of Django's DATABASES."""
    parts = conninfo_to_dict(url)
    names = {"HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password"}
    entry: dict[str, object] = {name: parts.get(part, "") for name, part in names.items()}
    return {"ENGINE": "django.db.backends.postgresql", "NAME": parts["dbname"], **entry}


if __name__ == "__main__":  # in a project Django has its settings and is set up by now
    settings.configure(DATABASES={"default": database(os.environ["DATABASE_URL"])})
    django.setup()


class Account(models.Model):  # type: ignore[misc]  # Django carries no types
    """An account of the business."""

    name = models.TextField(primary_key=True)
    balance = models.IntegerField()

    class Meta:  # noqa: D106  # Django's own idiom
        app_label = "billing"
        db_table = "accounts"
        managed = False

    def __str__(self) -> str:
        return f"{self.name}: {self.balance}"


# region: credit
def credit(key: k8sjob.Key, amount: int) -> None:
    """Credit alice, once per period."""
    with transaction.atomic():
        k8sjob.claim(connection.connection, key, payload=str(amount))
        Account.objects.filter(name="alice").update(balance=F("balance") + amount)


# endregion

if __name__ == "__main__":
    main(lambda _url, key, amount: credit(key, amount))
