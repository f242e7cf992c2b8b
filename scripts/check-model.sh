#!/usr/bin/env bash
# Checks the model of docs/model with SPIN, to the end: what must hold holds, and every mutant is found.
# Prints a table. Arguments: names of checks, to run only those (see the table); -v prints the trace of each mutant.
set -euo pipefail

model="$(cd "$(dirname "$0")/.." && pwd)/docs/model/adoption.pml"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
memory_mib=2800
verbose=false
if [ "${1:-}" = "-v" ]; then
  verbose=true
  shift
fi
wanted=" $* "
failed=0

if ! command -v spin >/dev/null || ! command -v gcc >/dev/null; then
  echo "SKIPPED: the model: spin and gcc are missing; Debian: apt-get install spin gcc"
  exit 0
fi

# check EXPECTED NAME FLAGS...: EXPECTED is "holds", or the property that the mutant must break.
check() {
  local expected=$1 name=$2
  shift 2
  if [ "$wanted" != "  " ] && [[ "$wanted" != *" $name "* ]]; then
    return
  fi
  local dir="$work/$name" search=() found seconds states memory
  mkdir "$dir"
  cd "$dir"
  # The shortest trace is the one to read; a proof takes less memory depth first.
  if [ "$expected" != holds ]; then
    search=(-DBFS)
  fi
  spin "$@" -a "$model" >spin.out 2>&1 || { cat spin.out; exit 1; }
  gcc -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM="$memory_mib" "${search[@]}" -o pan pan.c
  seconds=$SECONDS
  nice ./pan -m5000000 -n >pan.out 2>&1 || true
  seconds=$((SECONDS - seconds))
  states=$(awk '/states, stored/ { print $1 }' pan.out)
  memory=$(awk '/total actual memory usage/ { print int($1) }' pan.out)
  found=$(outcome "$@")
  if [ "$found" != "$expected" ]; then
    found="$found, NOT $expected"
    failed=1
  fi
  printf '%-24s %-34s %10s %6s %6s  %s\n' "$name" "${*#-D}" "$states" "$seconds" "$memory" "$found"
  if $verbose && [ -f adoption.pml.trail ]; then
    spin "$@" -t -k adoption.pml.trail "$model" | sed '/^spin:/,$d; s/^ */    /'
  fi
}

outcome() {
  if grep -q 'pan:1: assertion violated' pan.out; then
    spin "$@" -t -k adoption.pml.trail "$model" >trail.out 2>&1 || true
    local line
    line=$(sed -n 's/^spin: .*adoption.pml:\([0-9]*\), Error: assertion violated.*/\1/p' trail.out | head -n 1)
    sed -n "${line}s|.*/\* \([SL][0-9]\).*|\1|p" "$model"
  elif grep -q 'errors: 0' pan.out && ! grep -q -E 'MEMLIM|max search depth|out of memory|interrupted' pan.out; then
    echo holds
  else
    echo "not finished"
  fi
}

printf '%-24s %-34s %10s %6s %6s  %s\n' check flags states s MiB result
check holds adoption
check holds adoption-crash -DCRASH
check holds adoption-stream -DSTREAM -DCRASH
check holds prove-attach -DRULE_PROVE_ATTACH -DEARLY_EXPIRY -DEARLY_CLOCKS
check holds grant-without-bound -DGRANT_WITHOUT_BOUND
check holds bound -DNS=2 -DEXPIRY -DADOPTIONS=0
check holds bound-to-the-end -DNS=2 -DEXPIRY -DADOPTIONS=0 -DMARGIN=0
check holds mirror -DNS=2 -DSTALE -DADOPTIONS=0
check holds live -DLIVE
check S1 early-expiry -DEARLY_EXPIRY
check S1 early-clocks -DEARLY_CLOCKS
check S1 grace-of-one-ttl -DGRACE=TTL
check S1 dormant-timeout -DMUT_DORMANT_TIMEOUT
check S1 stream-at-once -DSTREAM -DMUT_STREAM_AT_ONCE
check S3 no-fence -DMUT_NO_FENCE
check S1 no-fence-exclusion -DONLY_S1 -DMUT_NO_FENCE
check S4 zombie-close -DMUT_CLOSE
check S1 ahead-on-end -DONLY_S1 -DMUT_AHEAD_ON_END
check S1 ahead-on-linger -DONLY_S1 -DMUT_AHEAD_ON_LINGER
check S1 late-grant -DMUT_LATE_GRANT
check S1 keepalive-elsewhere -DMUT_KEEPALIVE_ELSEWHERE
check S1 no-bound -DNS=2 -DEXPIRY -DADOPTIONS=0 -DMUT_NO_BOUND
check S1 ping-as-proof -DNS=2 -DEXPIRY -DADOPTIONS=0 -DMUT_PING
check S1 proof-is-touch -DNS=2 -DEXPIRY -DADOPTIONS=0 -DMUT_PROOF_IS_TOUCH
check S1 no-lag -DNS=2 -DEXPIRY -DADOPTIONS=0 -DMUT_NO_LAG
check S1 from-receipt -DNS=2 -DEXPIRY -DADOPTIONS=0 -DMUT_FROM_RECEIPT
check S1 stale-mirror -DONLY_S1 -DNS=2 -DSTALE -DADOPTIONS=0 -DMUT_STALE
check L1 not-adopted -DLIVE -DADOPTIONS=0
check L2 no-deletion-after-grace -DLIVE -DMUT_DORMANT_FOR_EVER
check L1 no-grace -DLIVE -DGRACE=0 -DONLY_L1
exit $failed
