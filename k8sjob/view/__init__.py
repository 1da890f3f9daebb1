"""What a ledger's rows mean to somebody who looks: computed states, tables, JSON, stories. Pure."""
