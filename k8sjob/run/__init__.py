"""Running a job on the claim: the target, its transaction, and what is told about it."""
