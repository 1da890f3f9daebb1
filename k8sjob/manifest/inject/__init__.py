"""Plain CronJobs into covered ones and back: pieces of text put in and taken out, no byte else.

::

    text ─▶ taken back what stands in the record ─▶ what is wanted (pure) ─▶ pieces put in ─▶ text
                                      k8sjob.io/injected: the record of what was put in
"""
