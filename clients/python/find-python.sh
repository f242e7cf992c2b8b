#!/bin/sh
# Prints the interpreter of a version, as it is called or as pyenv has it: find-python.sh 3.10
works() { "$1" -c "import sys, venv; sys.exit('%d.%d' % sys.version_info[:2] != '$2')" >/dev/null 2>&1; }
for python in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python; do
  works "$python" "$1" && echo "$python" && exit 0
done
exit 1
