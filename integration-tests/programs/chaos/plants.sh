#!/bin/sh
# Shows that the checker finds planted bugs. For each bug there is a run under the faults that expose it, and the same
# run without the bug, which must find nothing. Exit code 0 if so for each bug. Arguments: the bugs; all if none is given.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
report=$(mktemp)
trap 'rm -f "$report"' EXIT INT TERM

# Sets the parameters of the run that exposes a bug, and the violations that are expected.
describe() {
  case $1 in
    # A coordinator that resumes after its sessions were taken over still writes to them, and ends leases that live elsewhere.
    skip-epoch-check)
      faults=coordinator-pause-long,coordinator-cut-off-from-zookeeper,clients-connections-cut
      seconds=75 seed=21 shows='two holders at once\|overtaken\|lost without cause'
      ;;
    # A coordinator that was disconnected grants from outdated data.
    skip-stale-mirror)
      faults=coordinator-cut-off-from-zookeeper,zookeeper-connections-cut
      seconds=40 seed=23 shows='two holders at once'
      ;;
    *)
      echo "no such bug: $1" >&2
      exit 2
      ;;
  esac
}

# Runs with the named bug, or without one, and leaves the output in the report.
run() {
  echo "chaos: bug \"$1\", under $faults"
  CHAOS_PLANT=$1 CHAOS_FAULTS=$faults CHAOS_SECONDS=${CHAOS_SECONDS:-$seconds} CHAOS_SEED=${CHAOS_SEED:-$seed} \
    "$here/run.sh" >"$report" 2>&1 && code=0 || code=$?
  grep '^VIOLATION\|^violations\|^all promises\|^chaos:' "$report" || true
}

[ $# -gt 0 ] || set -- skip-epoch-check skip-stale-mirror
failed=0
for plant in "$@"; do
  describe "$plant"
  run "$plant"
  if grep -q "^VIOLATION: \\($shows\\)" "$report"; then
    echo "chaos: $plant was caught"
  else
    echo "chaos: $plant was NOT caught (code $code)"
    failed=1
  fi
  run ""
  if [ "$code" != 0 ]; then
    echo "chaos: without $plant something else is wrong"
    failed=1
  fi
done
exit "$failed"
