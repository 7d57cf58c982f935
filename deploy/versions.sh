# shellcheck shell=sh
# The SDKs and the packages for frameworks have the server's version: each_version DO calls DO with a file of the work tree
# that it is run in, and what the file's line has before the version.
each_version() {
  "$1" sdk/python/pyproject.toml 'version = '
  "$1" sdk/python/src/mneme/__init__.py '__version__ = '
  "$1" sdk/typescript/package.json '  "version": '
  "$1" sdk/go/client.go 'const Version = '
  for file in integrations/python/*/pyproject.toml; do "$1" "$file" 'version = '; done
  for file in integrations/python/*/src/*/__init__.py; do "$1" "$file" '__version__ = '; done
  for file in integrations/typescript/*/package.json; do "$1" "$file" '  "version": '; done
}
# version_set is such a DO: it sets $version.
version_set() {
  sed "s/^\($2\"\)[^\"]*/\1$version/" "$1" >"$1.new"
  mv "$1.new" "$1"
}
