#!/bin/sh
# Runs a program of this directory with the interpreter and the stubs that polyglot/install.sh python_stubs installs.
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../polyglot/build
PYTHONPATH=$build/python-stubs:$here PYTHONDONTWRITEBYTECODE=1 exec "$build/python/bin/python" "$here/$@"
