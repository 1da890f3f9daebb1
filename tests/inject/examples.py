"""CronJobs as people, charts and kubectl write them, to the letter."""

from __future__ import annotations

#: As somebody writes it who likes comments.
COMMENTED = """\
# Credits the accounts, once a night.
---
apiVersion: batch/v1
kind: CronJob   # not a Job
metadata:
  # the bank knows it by this name
  name: daily-credit
  namespace: billing
  labels:
    app: billing

    # of the team
    team: 'payments'
  annotations:
    note: >-
      folded
      text

spec:
  schedule: "0 2 * * *"  # after the feed
  timeZone: Europe/Rome
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      activeDeadlineSeconds: 3600

      # three more tries
      backoffLimit: 3
      template:
        metadata:
          labels: {app: billing}
        spec:
          restartPolicy: Never
          serviceAccountName: 'credit'
          containers:
            # does it all
            - name: main
              image: registry.example/billing:1.4
              command:
                # in the image since 1.2
                - ./credit.sh
                - --fast   # since 1.3
              args: [ "--day", 'today' ]
              env:
                - {name: MODE, value: "on"}
                # where the money is
                - name: DATABASE_URL
                  valueFrom:
                    secretKeyRef: {name: db, key: url}
              # a trailing remark
          # and another one
# the end
"""

#: With lists that begin in their key's own column.
UNINDENTED = """\
apiVersion: batch/v1
kind: CronJob
metadata:
    name: daily-credit
spec:
    jobTemplate:
        spec:
            template:
                spec:
                    containers:
                    -   image: billing:1.4
                        command:
                        - ./credit.sh
                        name: main
                        volumeMounts:
                        - mountPath: /data
                          name: data
                    restartPolicy: OnFailure
                    initContainers:
                    - name: wait
                      image: busybox:1.36
                      command: ["true"]
                    volumes:
                    - name: data
                      emptyDir: {}
            activeDeadlineSeconds: 600
    schedule: '@daily'
    timeZone: Etc/UTC
"""

#: A program in a block, and the Pod's last key is a text that ends in empty lines.
BLOCKS = """\
apiVersion: batch/v1
kind: CronJob
metadata:
  name: daily-credit
  annotations:
    kept: |+
      text

spec:
  schedule: 0 2 * * *
  timeZone: Europe/Rome
  jobTemplate:
    spec:
      activeDeadlineSeconds: 3600
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: main
              image: billing:1.4
              command:
                - sh
                - -c
                - |
                  # a shell's own comment
                  echo "$(date)"

                  exec ./credit.sh
              env:
                - name: TEXT
                  value: |2-
                      indented

                # below a block
"""

FLOW = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: daily-credit, labels: {app: billing}}
spec:
  schedule: 0 2 * * *
  timeZone: Europe/Rome
  jobTemplate:
    spec:
      activeDeadlineSeconds: 3600
      template: {spec: {restartPolicy: Never, containers: [{name: main, image: 'billing:1.4',
        command: [./credit.sh,
                  "--fast", ], env: [{name: MODE, value: "on"}] }]}}
"""

#: As a chart renders its empty values.
EMPTY = """\
---
# Source: billing/templates/cronjob.yaml
apiVersion: batch/v1
kind: CronJob
metadata:
  name: daily-credit
  namespace: billing
  labels: {}
  annotations:
spec:
  schedule: "0 2 * * *"
  timeZone: Europe/Rome
  jobTemplate:
    spec:
      activeDeadlineSeconds: 3600
      template:
        metadata:
          annotations:
        spec:
          restartPolicy: Never
          initContainers: null # none
          containers:
            - name: main
              image: "billing:1.4"
              command: ["./credit.sh"]
              env: []
              volumeMounts:
          volumes:
            []
---
# Source: billing/templates/empty.yaml
"""

#: Anchors and aliases where nothing is put in, and labels that the Pod has too.
ANCHORS = """\
apiVersion: batch/v1
kind: CronJob
metadata:
  name: &name daily-credit
  labels: &labels
    app: *name
spec:
  schedule: "0 2 * * *"
  timeZone: Europe/Rome
  jobTemplate:
    spec:
      activeDeadlineSeconds: 3600
      template:
        metadata:
          labels: *labels
        spec: &pod
          restartPolicy: Never
          containers:
            - &main
              name: main
              image: &image billing:1.4
              command: &command [./credit.sh]
              resources: &small {requests: {cpu: 10m}}
              env:
                - &mode {name: MODE, value: "on"}
          initContainers:
            - name: first
              image: *image
              resources:
                <<: *small
              env: [*mode]
"""

#: As kubectl prints it.
LISTED = """\
apiVersion: v1
items:
- apiVersion: batch/v1
  kind: CronJob
  metadata:
    creationTimestamp: "2026-09-13T00:00:00Z"
    name: daily-credit
    namespace: billing
    resourceVersion: "4711"
  spec:
    schedule: 0 2 * * *
    timeZone: Europe/Rome
    jobTemplate:
      metadata:
        creationTimestamp: null
      spec:
        activeDeadlineSeconds: 3600
        template:
          spec:
            containers:
            - command:
              - ./credit.sh
              image: billing:1.4
              name: main
              resources: {}
            restartPolicy: Never
  status: {}
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: other
  data: {a:   b}
kind: List
metadata: {}
"""

OTHERS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name:   odd,
   labels: }
data:
  "a" : |
    kind: CronJob
    {{ not for us }}
"""

#: As a program writes empty values.
EMPTY_JSON = """\
{"apiVersion": "batch/v1", "kind": "CronJob",
  "metadata": {"name": "daily-credit", "labels": { }, "annotations": null},
  "spec": {"schedule": "@daily", "timeZone": "Etc/UTC", "jobTemplate": {"spec": {
    "activeDeadlineSeconds": 600, "template": {"spec": {
      "restartPolicy": "Never", "initContainers": [],
      "containers": [ {"name": "main", "image": "a", "command": [ "./credit.sh" ], "env": null } ],
      "volumes": null
    }}
  }}}
}
"""
