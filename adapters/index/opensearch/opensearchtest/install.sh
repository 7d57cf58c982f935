#!/bin/sh
# Brings the jars of an OpenSearch with its k-NN plugin to .cache/opensearch, from
# Maven: of 3.6.0 where Java is 21 or later, of 2.19.1 where it is 11 to 20. Needs a JDK
# (a headless one does) and mvn. What is there already is left alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${CACHE:-$(cd "$here/../../../.." && pwd)/.cache}
java=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/.*java\.specification\.version = //p')
version=2.19.1
[ "$java" -lt 21 ] || version=3.6.0
[ -f "$cache/opensearch/$version/Node.class" ] && cmp -s "$here/Node.java" "$cache/opensearch/$version/Node.java" && exit
part=$cache/opensearch/$version.part
rm -rf "$part"
mkdir -p "$part/lib"
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.6.1
mvn -q -B -f "$here/pom.xml" $plugin:copy-dependencies -DincludeScope=runtime -DexcludeTypes=zip -DoutputDirectory="$part/lib"
mvn -q -B -f "$here/pom.xml" $plugin:unpack-dependencies -DincludeTypes=zip -DoutputDirectory="$part/lib" \
	-DmarkersDirectory="$part/markers" # its jars beside the others
javac -Xlint:none -cp "$part/lib/*" -d "$part" "$here/Node.java"
cp "$here/Node.java" "$part"
rm -rf "$cache/opensearch/$version"
mv "$part" "$cache/opensearch/$version"
