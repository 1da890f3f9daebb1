"""Where a run's job and period come from: `resolve` asks one source after the other."""
