"""A command as a child process: what an init process owes it, and nothing about the ledger."""
