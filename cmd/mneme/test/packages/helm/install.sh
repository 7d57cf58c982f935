#!/bin/sh
# Brings Helm, as a library that helm-java has built (Maven; 28 MB), and a command for it to DIR: compiling
# it from its source would take longer than all of the program. Needs a JDK (a headless one does) and mvn.
# sh cmd/mneme/test/packages/helm/install.sh DIR (make chart-tools). What is there already is left alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=${1:?usage: install.sh DIR}
cat "$here/pom.xml" "$here/Helm.java" "$here/install.sh" | cmp -s - "$into/installed" && exit 0
case $(uname -m) in
aarch64 | arm64) processor=arm64 ;;
*) processor=amd64 ;;
esac
rm -rf "$into"
mkdir -p "$into"
into=$(cd "$into" && pwd)
mvn -q -B -f "$here/pom.xml" -Dplatform="linux-$processor" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
	-DincludeScope=runtime -DoutputDirectory="$into/lib"
javac -cp "$into/lib/*" -d "$into" "$here/Helm.java"
cat >"$into/helm" <<'END'
#!/bin/sh
at=$(cd "$(dirname "$0")" && pwd)
exec java -XX:TieredStopAtLevel=1 -cp "$at:$at/lib/*" Helm "$@"
END
chmod +x "$into/helm"
cat "$here/pom.xml" "$here/Helm.java" "$here/install.sh" >"$into/installed"
