#!/bin/sh
# Runs a cluster, its clients and a nemesis, then checks the histories. Exit code 0 if all promises were kept.
# The settings are environment variables: see README.md.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tests=$(cd "$here/../.." && pwd)
"$tests/polyglot/install.sh" go_programs
[ -x "$tests/polyglot/build/bin/chaos-checker" ] || { echo "chaos: the checker is missing, see above" >&2; exit 2; }
"$tests/../clients/run.sh" programs

mkdir -p "$tests/target/scratch"
out=$(mktemp -d "$tests/target/scratch/chaos.XXXXXX")
: >"$out/run.log"
code=0
"$here/../run.sh" chaos.Chaos "$out" >"$out/run.log" 2>&1 &
runner=$!
trap 'kill "$runner" 2>/dev/null || true' EXIT INT TERM
tail -n +1 -f --pid="$runner" "$out/run.log" | grep --line-buffered '^chaos:' || true
wait "$runner" || code=$?
trap - EXIT INT TERM
[ "$code" = 0 ] || { tail -n 20 "$out/run.log" >&2; echo "chaos: the run failed; its logs are in $out" >&2; }

"$tests/polyglot/build/bin/chaos-checker" "$out" || code=1
if [ "$code" = 0 ] && [ -z "${CHAOS_KEEP:-}" ]; then
  rm -rf "$out"
else
  echo "chaos: histories and logs are in $out"
fi
exit "$code"
