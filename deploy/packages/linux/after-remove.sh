#!/bin/sh
# Runs after the files are gone. What was stored stays: its owner removes it.
set -e
root=${DPKG_ROOT:-}
if [ -z "$root" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
case $1 in
  purge | 0)
    rm -rf "$root/var/cache/mneme"
    if [ -e "$root/var/lib/mneme" ]; then
      echo "mneme: what was stored is still in /var/lib/mneme"
    fi
    ;;
esac
