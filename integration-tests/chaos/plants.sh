#!/bin/sh
# Shows that bugs are found: runs with coordinators that have been told to have one, under the faults that bring it out. Ends
# with 0 if every one of them was caught. Arguments: which bugs; none: all of them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# Prints the faults under which a bug shows.
faults_for() {
  case $1 in
    # Whoever wakes after its sessions were adopted writes as if they were its own.
    skip-epoch-check) echo coordinator-pause-long,coordinator-cut-off-from-zookeeper,clients-connections-cut ;;
    # Whoever was out of touch grants by what it knew before.
    skip-stale-mirror) echo coordinator-cut-off-from-zookeeper,zookeeper-connections-cut ;;
    *) echo "no such bug: $1" >&2; exit 2 ;;
  esac
}

[ $# -gt 0 ] || set -- skip-epoch-check skip-stale-mirror
missed=0
for plant in "$@"; do
  faults=$(faults_for "$plant")
  echo "chaos: with the bug $plant, under $faults"
  code=0
  CHAOS_PLANT=$plant CHAOS_FAULTS=$faults CHAOS_SECONDS=${CHAOS_SECONDS:-120} "$here/run.sh" || code=$?
  if [ "$code" = 1 ]; then
    echo "chaos: $plant was caught"
  else
    echo "chaos: $plant was NOT caught (code $code)"
    missed=1
  fi
done
exit "$missed"
