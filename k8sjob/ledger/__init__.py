"""The ledger: one contract, kept by Postgres and by SQLite.

The only package that touches a database driver.
"""
