#!/bin/sh
# Writes the documentation site to target/docs, beside the references of the API that are there already.
# Needs python3; where the site's generator cannot be had, says so and leaves the references alone.
set -eu
cd "$(dirname "$0")/.."
tools=integration-tests/polyglot/build/site/bin

integration-tests/polyglot/install.sh site
if [ ! -x "$tools/mkdocs" ]; then
  exit 0
fi
NO_MKDOCS_2_WARNING=1 "$tools/mkdocs" build --quiet
mkdir -p target/docs
cp -r target/site/. target/docs/
"$tools/python" scripts/check_links.py target/docs
