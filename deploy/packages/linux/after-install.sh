#!/bin/sh
# Runs after the files are there, at first and at each upgrade. DPKG_ROOT is set where another system than the
# running one is being installed: nothing of the running one is touched then.
set -e
root=${DPKG_ROOT:-}
if command -v systemd-sysusers >/dev/null 2>&1; then
  systemd-sysusers ${root:+"--root=$root"} mneme.conf
elif [ -z "$root" ] && ! getent passwd mneme >/dev/null; then
  useradd --system --user-group --home-dir /var/lib/mneme --no-create-home --shell /usr/sbin/nologin mneme
fi
[ -z "$root" ] && [ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
if systemctl is-active --quiet mneme.service; then
  systemctl restart mneme.service
elif [ "$1" = 1 ] || { [ "$1" = configure ] && [ -z "$2" ]; }; then
  echo "mneme: systemctl enable --now mneme starts it; mneme keys create --config /etc/mneme/mneme.yaml makes a key"
fi
