#!/bin/sh
# Shows that bugs are found: runs with coordinators that are given one, under the faults that bring it out, and
# the same run without the bug, which must find nothing. Ends with 0 if that is so for each. Arguments: which bugs; none: all.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
report=$(mktemp)
trap 'rm -f "$report"' EXIT INT TERM

# Sets the run in which a bug shows, and what it must show as.
describe() {
  case $1 in
    # Whoever wakes after its sessions were adopted writes as if they were its own: it ends leases that live elsewhere.
    skip-epoch-check)
      faults=coordinator-pause-long,coordinator-cut-off-from-zookeeper,clients-connections-cut
      seconds=75 seed=21 shows='two holders at once\|overtaken\|lost without cause'
      ;;
    # Whoever was out of touch grants by what it knew before.
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

# Runs with the bug that is named, or with none, and leaves what was said in the report.
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
