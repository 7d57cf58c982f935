#!/bin/sh
# Runs before the files go: deb says remove or upgrade, rpm how many versions stay.
set -e
case $1 in
  remove | 0) ;;
  *) exit 0 ;;
esac
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
  systemctl disable --now mneme.service
fi
