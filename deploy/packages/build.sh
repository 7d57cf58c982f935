#!/bin/sh
# Builds what a release hands out, the same bytes each time for the same commit: an archive for each system and processor
# given (or all of them), deb and rpm for Linux, the chart of Helm, what each program was built from (CycloneDX), a formula for Homebrew, the
# SDKs and the packages for frameworks (libraries.sh), and the sums of it all.
#   sh deploy/packages/build.sh DIR VERSION [SYSTEM/PROCESSOR...]
# MNEME_BINARY names a program that is built already, for one system; MNEME_KINDS which of archive, deb, rpm and libraries are made.
# nfpm and cyclonedx-gomod are installed by make package-tools.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
into=${1:?usage: build.sh DIR VERSION [SYSTEM/PROCESSOR...]}
version=${2:?usage: build.sh DIR VERSION [SYSTEM/PROCESSOR...]}
shift 2
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
kinds=" ${MNEME_KINDS:-archive deb rpm libraries} "
tools=${MNEME_PACKAGE_TOOLS:-$root/.cache/package-tools}
[ -x "$tools/nfpm" ] || { echo "no $tools/nfpm: run make package-tools" >&2; exit 1; }
releases=${MNEME_RELEASES:-https://github.com/mnemehq/mneme/releases/download/v$version}
mkdir -p "$into"
into=$(cd "$into" && pwd)
cd "$root"
commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
# Every file is as old as the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# An older build's files are neither summed up nor left beside this one's.
rm -f "$into"/mneme-* "$into/mneme.rb" "$into/SHA256SUMS" "$into"/mneme_sdk-*.whl "$into"/*_mneme-*.whl "$into"/mnemehq-*.tgz
go build -o "$work/archive" ./deploy/packages/archive

for target in "$@"; do
  system=${target%/*} processor=${target#*/} program=mneme kind=tar.gz
  case $system in
    windows) program=mneme.exe kind=zip ;;
    darwin | linux) ;;
    *) echo "there are packages for darwin, linux and windows, not for $system" >&2; exit 1 ;;
  esac
  name=mneme-$version-$system-$processor
  dir=$work/$name
  mkdir -p "$dir"
  if [ -n "${MNEME_BINARY:-}" ]; then
    cp "$MNEME_BINARY" "$dir/$program"
  else
    CGO_ENABLED=0 GOOS=$system GOARCH=$processor go build -trimpath -buildvcs=false -ldflags="-s -w \
      -X github.com/mnemehq/mneme/cmd/mneme/cli.version=$version -X github.com/mnemehq/mneme/cmd/mneme/cli.commit=$commit" \
      -o "$dir/$program" ./cmd/mneme
  fi
  chmod 755 "$dir/$program"
  cp LICENSE NOTICE README.md CHANGELOG.md "$dir/"
  "$tools/cyclonedx-gomod" bin -json -noserial -notimestamp -std -version "$version" -output "$into/$name.cdx.json" \
    "$dir/$program" 2>"$work/cyclonedx" || { cat "$work/cyclonedx" >&2; exit 1; }
  case $kinds in *" archive "*) "$work/archive" "$into/$name.$kind" "$dir" ;; esac
  if [ "$system" = linux ]; then
    sed -e "s|@VERSION@|$version|" -e "s|@PROCESSOR@|$processor|" -e "s|@DIR@|$dir|" -e "s|@HERE@|$here|" "$here/nfpm.yaml" \
      >"$work/nfpm.yaml"
    for packager in deb rpm; do
      case $kinds in *" $packager "*) ;; *) continue ;; esac
      "$tools/nfpm" package --config "$work/nfpm.yaml" --packager "$packager" --target "$into/$name.$packager" >/dev/null
    done
  fi
  rm -rf "$dir"
  echo "$name" >&2
done

case $kinds in *" archive "*)
  mkdir "$work/chart"
  cp -R "$root/deploy/helm/mneme" "$work/chart/mneme"
  sed -e "s|^version: .*|version: $version|" -e "s|^appVersion: .*|appVersion: $version|" "$here/../helm/mneme/Chart.yaml" \
    >"$work/chart/mneme/Chart.yaml"
  "$work/archive" "$into/mneme-chart-$version.tgz" "$work/chart/mneme"
  ;;
esac

libraries=
case $kinds in *" libraries "*)
  sh "$here/libraries.sh" "$into" "$version"
  libraries=$(sh "$here/libraries.sh" --list "$version")
  echo "$libraries" >&2
  ;;
esac

cd "$into"
sum() { [ -f "$1" ] && sha256sum "$1" | cut -d ' ' -f 1; }
formula=$work/mneme.rb
sed -e "s|@VERSION@|$version|" -e "s|@RELEASES@|$releases|" "$here/mneme.rb" >"$formula"
whole=yes
for target in darwin-arm64 darwin-amd64 linux-arm64 linux-amd64; do
  if found=$(sum "mneme-$version-$target.tar.gz"); then
    sed -i.old "s|@SUM-$target@|$found|" "$formula"
  else
    whole=
  fi
done
[ -z "$whole" ] || cp "$formula" mneme.rb
# shellcheck disable=SC2086 # names, one word each
printf '%s\n' mneme[-.]* $libraries | LC_ALL=C sort | xargs sha256sum >"$work/sums"
mv "$work/sums" SHA256SUMS
