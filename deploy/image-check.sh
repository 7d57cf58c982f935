#!/bin/sh
# Puts together by hand what the Dockerfile makes, without a container engine: the
# static binary alone in an empty, read-only root folder, run by an ordinary user
# whose only writable folders are data, cache and tmp. There it must start, be well
# through every retriever, keep a document and find it again after a restart. Needs
# root on Linux, for chroot and mount; BINARY names one that is built already.
set -eu
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo 'SKIPPED: root is needed for chroot and mount' >&2; [ -z "${MNEME_TEST_REQUIRE:-}" ]; exit; }
unshare -m true 2>/dev/null || { echo 'SKIPPED: this machine gives no mount namespace of its own (a container without CAP_SYS_ADMIN)' >&2; exit; }
work=$(mktemp -d)
image=$work/image
mkdir -p "$image/etc/ssl/certs" "$image/data" "$image/cache" "$image/tmp" "$image/proc"
if [ -n "${BINARY:-}" ]; then cp "$BINARY" "$image/mneme"; else
	cli=github.com/mnemehq/mneme/cmd/mneme/cli
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags="-s -w -X $cli.version=1.2.3-check -X $cli.commit=check" -o "$image/mneme" ./cmd/mneme
fi
[ ! -f /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$image/etc/ssl/certs/"
echo 'mneme:x:65532:65532::/data:/mneme' >"$image/etc/passwd"
echo 'mneme:x:65532:' >"$image/etc/group"
chmod 0700 "$image/data" "$image/cache"; chmod 1777 "$image/tmp"; chmod 0755 "$work"
chown -R 65532:65532 "$image/data" "$image/cache"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$work/inside" <<'EOF'
set -eu
image=$1; shift
mount --bind "$image" "$image"
for folder in data cache tmp; do mount --bind "$image/$folder" "$image/$folder"; done
mount -o remount,ro,bind "$image"
# chroot drops the rights that it needs itself.
exec chroot --userspec=65532:65532 --groups= "$image" "$@"
EOF
cat >"$work/run" <<EOF
exec env -i MNEME_DATA=/data MNEME_CACHE=/cache MNEME_ADDR=127.0.0.1:$port MNEME_LOG_FORMAT=json PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
	unshare -m sh "$work/inside" "$image" "\$@"
EOF
run() { sh "$work/run" "$@"; }
server=
end() { [ -z "$server" ] || kill "$server" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"; }
trap end EXIT
start() {
	sh "$work/run" /mneme serve 2>"$work/log" & # each command becomes the next, so this is the server's process
	server=$!
	for _ in $(seq 240); do
		if run /mneme healthcheck --deep --timeout 10s >"$work/health" 2>&1; then return; fi
		kill -0 "$server" 2>/dev/null || break
		sleep .5
	done
	cat "$work/log" "$work/health" >&2
	exit 1
}
stop() { kill "$server"; wait "$server"; server=; }
if [ -z "${BINARY:-}" ]; then
	run /mneme --version | grep -q '^mneme 1.2.3-check$' || { echo 'the image does not know its version' >&2; exit 1; }
fi
start
echo "deep health: $(cat "$work/health")"
status=$(sed -n '/^Uid:\|^CapEff:/p' "/proc/$server/status" | tr '\n\t' '  ')
echo "the server's process: $status"
case $status in *'Uid: 65532 65532'*'CapEff: 0000000000000000'*) ;; *) echo 'it has rights that it should not have' >&2; exit 1 ;; esac
key=$(run /mneme keys create --name check)
call() { curl -sS --fail-with-body -H "Authorization: Bearer $key" -H 'Content-Type: application/json' "http://127.0.0.1:$port$1" -d "$2"; echo; }
call /namespaces/check/documents '{"documents":[{"id":"lease","text":"The lease runs until May 2027."}]}'
stop
start
call /namespaces/check/query '{"query":"when does the lease end?"}' | tee "$work/answer"
grep -q '"document_id":"lease"' "$work/answer"
stop
left=$(find "$image" -newer "$work/inside" -type f ! -path "$image/data/*" ! -path "$image/cache/*" ! -path "$image/tmp/*")
[ -z "$left" ] || { echo "files outside of its folders: $left" >&2; exit 1; }
echo "image: all is well, the binary is $(du -m "$image/mneme" | cut -f1) MB"
