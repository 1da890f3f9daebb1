"""What people decide: block, skip, await, confirm, release, reopen, and what is pruned."""
