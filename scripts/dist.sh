#!/usr/bin/env bash
# Makes the packages of a version from the files that git knows: a tarball, a zip and a Debian package in target/dist.
#   scripts/dist.sh [VERSION] [REPOSITORY]
# Without a REPOSITORY it is quick, and leaves the checks to `make test`; what is deployed has passed Error Prone, format and style here.
# VERSION: that of pom.xml without -SNAPSHOT, if none is named. REPOSITORY: a directory that the libraries are deployed to as well, with their
# sources and Javadoc, as a Maven repository.
set -euo pipefail
cd "$(dirname "$0")/.."

current=$(sed -n 's#^  <version>\(.*\)</version>$#\1#p' pom.xml | head -n 1)
version=${1:-${current%-SNAPSHOT}}
repository=${2:+$(realpath -m "$2")}
unchecked=,build-only
[ -z "$repository" ] || unchecked=
rm -rf target/dist
mkdir -p target/dist/sources
git ls-files -z | xargs -0 cp -p --parents -t target/dist/sources
cd target/dist/sources
find . -name pom.xml -exec sed -i "s#<version>$current</version>#<version>$version</version>#" {} +
./mvnw -q -ntp -P dist$unchecked -pl packaging -am package -Dmaven.test.skip=true
cp packaging/target/*.tar.gz packaging/target/*.zip packaging/target/*.deb ..
if [ -n "$repository" ]; then
  ./mvnw -q -ntp -N spotless:check checkstyle:check
  integrations=integrations/spring-boot-starter,integrations/shedlock,integrations/kotlin
  ./mvnw -q -ntp -P release -pl "bom,proto,server,client-java,testing,$integrations" -am deploy -Dmaven.test.skip=true \
    "-DaltDeploymentRepository=here::file://$repository"
fi
cd ..
rm -rf sources
ls -l
