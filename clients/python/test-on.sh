#!/bin/sh
# Runs the tests on the wheel of build/dist with another version of Python: test-on.sh 3.10 DEPENDENCY...
set -eu
cd "$(dirname "$0")"
version=$1
shift
skip() {
  printf '\n%s\n\n' "SKIPPED: tests of the Python client on Python $version: $1"
  exit 0
}

# The interpreter as it is called, or as pyenv has it.
for python in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python; do
  "$python" -c "import sys, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != '$version')" >/dev/null 2>&1 && found=$python && break
done
[ -n "${found:-}" ] || skip "there is no such interpreter; get it with pyenv install $version"

venv=build/test-on-$version
rm -rf "$venv"
"$found" -m venv "$venv"
"$venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: pytest "$@" || skip "its packages cannot be downloaded"
"$venv/bin/python" -m pip install -q --disable-pip-version-check --no-index build/dist/*.whl
echo "python: $("$venv/bin/python" --version)"
env -u PYTHONPATH "$venv/bin/python" -m pytest
