#!/bin/sh
# Installs the wheel of build/dist into a new environment, and runs tests there: in-clean-environment.sh PYTHON [TESTS...]
set -eu
cd "$(dirname "$0")"
python=$1
shift
venv=build/clean-$($python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
rm -rf "$venv"
"$python" -m venv "$venv"
"$venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: build/dist/*.whl pytest
env -u PYTHONPATH "$venv/bin/python" -m pytest "$@"
