# Two images of one package; the last one is the default:
#   docker build --target entrypoint -t k8sjob .        runs jobs: psycopg, click, tzdata
#   docker build --target control -t k8sjob-control .   reconciles, starts backfills, serves
#
# A job's image stands on the first: FROM k8sjob, COPY credit.py ., CMD ["run", "credit:credit"].
# A base can be pinned: --build-arg BASE=python:3.13-slim@sha256:…
ARG BASE=python:3.13-slim

# ------------------------------------------------------------------- what both images begin with

FROM ${BASE} AS base
# Python's images come without compiled modules, and on a read-only root no run can leave any: each
# start would compile the standard library again. Hashes that nobody checks outlive a change of the
# files' times.
RUN python -m compileall -q -j 0 --invalidation-mode unchecked-hash \
        -x '/(site-packages|config-[^/]*|ensurepip|idlelib|lib2to3|pydoc_data|test|tkinter|turtledemo|venv)/' \
        "$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" \
 && echo 'k8sjob:x:65532:' >>/etc/group \
 && echo 'k8sjob:x:65532:65532::/nonexistent:/usr/sbin/nologin' >>/etc/passwd
# An empty PYTHONTZPATH: zones are those of the tzdata package in targets too, whatever the base has.
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONTZPATH="" PYTHONUNBUFFERED=1
# Targets are looked for in the current folder: `run credit:credit` finds /app/credit.py.
WORKDIR /app
ARG VERSION=0.1.0
ARG REVISION=
ARG CREATED=
LABEL org.opencontainers.image.title="k8sjob" \
      org.opencontainers.image.description="Every period of a Kubernetes CronJob takes effect in Postgres once or not at all" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.vendor="The k8sjob authors" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"

# ------------------------------------------------------------------------------------- building

FROM ${BASE} AS tools
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1 \
    PIP_ROOT_USER_ACTION=ignore PIP_QUIET=1
WORKDIR /src
COPY requirements/build.txt requirements/
RUN pip install --require-hashes --only-binary :all: -r requirements/build.txt

# Dependencies before the sources: these change seldom, those with every commit.
FROM tools AS build
COPY requirements/core.txt requirements/
RUN pip install --require-hashes --only-binary :all: --ignore-installed --prefix /made \
        -r requirements/core.txt
COPY . .
RUN pip wheel --no-build-isolation --no-deps --wheel-dir /wheel . \
 && pip install --no-index --no-deps --prefix /made /wheel/*.whl \
 && python -m compileall -q -j 0 --invalidation-mode unchecked-hash /made/lib

# ------------------------------------------------------------------------------------ entrypoint

FROM base AS entrypoint
COPY --from=build /made /usr/local
# A number, since `runAsNonRoot` can make nothing of a name.
USER 65532:65532
ENTRYPOINT ["k8sjob"]

# --------------------------------------------------------------------------------------- control

FROM tools AS build-control
COPY requirements/control.txt requirements/
RUN pip install --require-hashes --only-binary :all: --ignore-installed --prefix /made \
        -r requirements/control.txt
COPY --from=build /wheel /wheel
RUN pip install --no-index --no-deps --prefix /made /wheel/*.whl \
 && python -m compileall -q -j 0 --invalidation-mode unchecked-hash /made/lib

FROM base AS control
COPY --from=build-control /made /usr/local
USER 65532:65532
ENTRYPOINT ["k8sjob"]
