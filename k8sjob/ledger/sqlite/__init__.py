"""The ledger in a SQLite file: for a laptop and for a single node.

The whole file is one lock: a claim begins with ``BEGIN IMMEDIATE``, so rivals wait for the file.
"""
