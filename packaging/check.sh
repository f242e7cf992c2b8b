#!/usr/bin/env bash
# Checks what `make dist` has made, as somebody would use it: the tarball in a path with spaces, the Debian package installed and purged again (where the machine
# is nobody's: CI=true, as root, on Debian), the image's file, the compose file and the chart. A tool that cannot be had is said loudly.
set -euo pipefail
cd "$(dirname "$0")"
dist=$PWD/../target/dist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

say() { printf 'packaging: %s\n' "$*"; }
skip() { printf '\nSKIPPED: %s\n\n' "$*"; }
check() { # check WHAT COMMAND...
  local what=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    say "ok    $what"
  else
    say "FAILED $what"
    tail -n 30 "$work/log"
    failed=1
  fi
}
says() { # says TEXT EXIT-CODE COMMAND...
  local text=$1 expected=$2 code=0
  shift 2
  "$@" >"$work/said" 2>&1 || code=$?
  cat "$work/said"
  [ "$code" = "$expected" ] && grep -qF -- "$text" "$work/said"
}

tarball=$(ls "$dist"/lockkeeper-*.tar.gz) || { echo "nothing to check: make dist" >&2; exit 1; }
mkdir "$work/a place"
tar -xzf "$tarball" -C "$work/a place"
home=$(echo "$work/a place"/lockkeeper-*)
version=${home##*/lockkeeper-}
ln -s "$home/bin/lockkeeper" "$work/link"

stops() { # a coordinator serves, runs a command under a lock, whose exit code is passed on, and TERM stops it
  "$1" dev --listen 127.0.0.1:0 --http 127.0.0.1:0 --zookeeper-port 0 --data-dir "$work/data" >"$work/dev" 2>&1 &
  local pid=$!
  for _ in $(seq 300); do
    if grep -q 'Ctrl-C stops it' "$work/dev"; then
      local address code=0
      address=$(sed -n 's/^ *gRPC  *//p' "$work/dev")
      for _ in 1 2 3 4 5; do # 69: a busy machine needs more than one try to reach it.
        code=0
        "$1" run --server "$address" orders/42 -- sh -c 'exit 7' || code=$?
        [ "$code" = 69 ] || break
      done
      kill "$pid" && wait "$pid" && [ "$code" = 7 ]
      return
    fi
    kill -0 "$pid" || break
    sleep 0.2
  done
  cat "$work/dev"
  kill -9 "$pid" || true
  return 1
}

mkdir "$work/few-tools"
find /bin/ /usr/bin/ -maxdepth 1 ! -name unzip ! -name curl ! -name wget ! -type d -exec ln -sf -t "$work/few-tools" {} +
ln -sf "$(command -v java)" "$(command -v javac)" "$work/few-tools"
check "the build needs no unzip, curl or wget" says "Apache Maven" 0 env MAVEN_USER_HOME="$work/m2" PATH="$work/few-tools" ../mvnw -version
check "the launcher, through a link, from a path with spaces" says "lockkeeper $version" 0 "$work/link" --version
check "its exit codes are the program's" says "lockkeeper:" 2 "$work/link" ls --no-such-option
mkdir "$work/no-java"
ln -s "$(command -v dirname)" "$(command -v readlink)" "$work/no-java"
check "without Java it says so" says "no Java found" 1 env -u JAVA_HOME PATH="$work/no-java" /bin/sh "$home/bin/lockkeeper"
mkdir -p "$work/old/bin"
printf 'JAVA_VERSION="11.0.2"\n' >"$work/old/release"
cp /bin/true "$work/old/bin/java"
check "of an older Java it says so" says "is Java 11.0.2" 1 env JAVA_HOME="$work/old" "$work/link" --version
check "the archive of classes can be made" "$home/bin/archive-classes"
check "a coordinator starts with it, runs a command, and stops at TERM" stops "$work/link"
touch "$home/lib/lockkeeper.jar"
check "an archive of another jar is passed over in silence" says "lockkeeper $version" 0 "$work/link" --version
check "and says nothing" [ "$(wc -l <"$work/said")" = 1 ]
if command -v python3 >/dev/null; then
check "the zip has the same files" python3 - "$tarball" "${tarball%.tar.gz}.zip" <<'END'
import sys, tarfile, zipfile
tar = {m.name: m.mode & 0o777 for m in tarfile.open(sys.argv[1]) if m.isfile()}
zip = {i.filename: i.external_attr >> 16 & 0o777 for i in zipfile.ZipFile(sys.argv[2]).infolist() if not i.is_dir()}
assert tar == zip, (tar, zip)
END
else
  echo "SKIPPED: the files of the zip: no python3"
fi

if command -v dpkg-deb >/dev/null; then
  deb=$(ls "$dist"/lockkeeper_*_all.deb)
  if [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    if ! dpkg -s lockkeeper >/dev/null 2>&1; then
      # A Java that Debian does not know of is as good.
      check "the Debian package is installed" dpkg -i --force-depends "$deb"
      check "its command works" says "lockkeeper $version" 0 /usr/bin/lockkeeper --version
      # The installer has made an archive of classes; another Java wants another one.
      rm -f /usr/share/lockkeeper/lib/lockkeeper.jsa
      check "another Java is noticed" dpkg-trigger --by-package=lockkeeper --no-await /usr/lib/jvm
      check "and what was noticed is seen to" dpkg --triggers-only --force-depends lockkeeper
      check "by an archive of its classes" test -s /usr/share/lockkeeper/lib/lockkeeper.jsa
      check "its service is not started before somebody has seen to its settings" sh -c '! systemctl is-active -q lockkeeper 2>/dev/null'
      if command -v systemd-analyze >/dev/null; then
        check "its unit is one" systemd-analyze verify /lib/systemd/system/lockkeeper.service
      else
        skip "the unit of systemd: no systemd-analyze"
      fi
      check "it is purged" dpkg --purge --force-depends lockkeeper
      check "and leaves nothing" sh -c '! ls -d /usr/share/lockkeeper /etc/lockkeeper /usr/bin/lockkeeper /etc/default/lockkeeper /var/lib/lockkeeper 2>/dev/null'
    fi
  else
    skip "installing the Debian package: not root on a machine of CI"
  fi
  if command -v lintian >/dev/null; then
    check "lintian" lintian --fail-on error,warning "$deb"
  else
    skip "lintian: not installed"
  fi
else
  skip "the Debian package: no dpkg-deb"
fi

tools=$(realpath -m "${PACKAGING_TOOLS:-target/tools}")
./tools.sh
if [ -x "$tools/bin/hadolint" ]; then
  check "hadolint" "$tools/bin/hadolint" docker/Dockerfile
  check "shellcheck" "$tools/bin/shellcheck" -S warning bin/* deb/control/p* check.sh tools.sh
else
  skip "the image and the scripts: hadolint and shellcheck cannot be had"
fi
if [ -x "$tools/bin/actionlint" ]; then
  check "the workflows" "$tools/bin/actionlint" ../.github/workflows/*.yml
else
  skip "the workflows: actionlint cannot be had"
fi
if [ -x "$tools/bin/compose" ]; then
  check "the compose file, as Docker Compose reads it" "$tools/bin/compose" docker/compose.yaml
else
  skip "the compose file: compose-go cannot be built"
fi
if ! [ -x "$tools/bin/helm" ] || ! [ -x "$tools/bin/kubernetes-validate" ]; then
  skip "the chart: helm or kubernetes-validate cannot be had"
  exit "$failed"
fi
chart() { "$tools/bin/helm" template t helm/lockkeeper --kube-version 1.31.0 "$@"; }
valid() { # valid SETTINGS...
  chart "$@" >"$work/manifests.yaml" && "$tools/bin/kubernetes-validate" --strict -k 1.31 "$work/manifests.yaml"
}
check "the chart" "$tools/bin/helm" lint helm/lockkeeper --strict --set zookeeper=zk:2181,insecure=true
check "its manifests, at the least" valid --set zookeeper=zk:2181,insecure=true
check "its manifests, with everything" valid --set zookeeper=zk1:2181\\,zk2:2181,tls.secret=a,tls.clientCa.secret=b,tls.peerCa.secret=c \
  --set pages.enabled=true,tokensSecret=d,networkPolicy.enabled=true,serviceMonitor.enabled=true,settings.max-waiters=500 --set-string 'policy=rules: []' \
  --set 'extraVolumes[0].name=e,extraVolumes[0].emptyDir.sizeLimit=1Mi,extraVolumeMounts[0].name=e,extraVolumeMounts[0].mountPath=/e,javaOptions=-Xss2m'
named() { # named NAME SETTINGS...: all objects are named after it, and short enough for a pod of the set
  local name=$1
  shift
  chart --set zookeeper=zk:2181,insecure=true "$@" | grep -E '^  name: ' | sort -u >"$work/said"
  [ "$(cat "$work/said")" = "$(printf '  name: %s\n  name: %s-peers' "$name" "$name")" ]
}
check "its objects are named after the release" named t-lockkeeper
check "or as they are told" named locks --set fullnameOverride=locks
accepted() { # the program takes the settings that the chart writes
  chart --set zookeeper=zk1:2181\\,zk2:2181,insecure=true,settings.max-leases=10000000 -s templates/configmap.yaml |
    sed -n '/^  lockkeeper.yaml: |/,$s/^    //p' >"$work/settings.yaml"
  "$work/link" serve --check --config "$work/settings.yaml" --data-dir "$work/data"
}
check "the program takes its settings" accepted
check "it demands ZooKeeper" says "zookeeper" 1 chart --set insecure=true
check "it demands protection" says "tls.secret" 1 chart --set zookeeper=zk:2181
check "it demands to know its clients" says "how clients are known" 1 chart --set zookeeper=zk:2181,tls.secret=a
exit "$failed"
