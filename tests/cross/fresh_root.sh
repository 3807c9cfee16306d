#!/usr/bin/env bash
# ./quickstart.sh on a Debian where nothing is installed:
#   fresh_root.sh SOURCE [COMMAND...]
# Makes a minimal root in a temporary folder from this machine's own package
# source, clones into it and runs the command there. Needs root, debootstrap
# and the right to mount; without them it exits 77. The folder NVBW_FRESH_FILES
# is there as /files.
set -euo pipefail
source=$1
shift
[ $# -gt 0 ] || set -- ./quickstart.sh

skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "not root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
[ -e "$source/.git" ] || skip "not a git checkout"
unshare --mount true 2>/dev/null || skip "this machine lets nobody mount"
# shellcheck source=/dev/null
. /etc/os-release
[ "$ID" = debian ] || skip "not Debian"
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
  sed -nE 's,^(URIs: *|deb +(\[[^]]*\] +)?)(https?://[^ ]*debian/?)( .*)?$,\3,p' |
  head -n 1 || true)
[ -n "$mirror" ] || skip "no package source is configured"

root=${NVBW_FRESH_ROOT:-}
if [ -z "$root" ]; then
  root=$(mktemp -d)
  trap 'rm -rf --one-file-system "$root"' EXIT
  debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror" \
    >"$root/debootstrap.out" 2>&1 || skip "debootstrap failed: $(
      tail -n 1 "$root/debootstrap.out")"
fi
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
rm -rf "$root/src"
git clone -q "$source" "$root/src"
[ -z "${NVBW_FRESH_FILES:-}" ] || cp -r "$NVBW_FRESH_FILES" "$root/files"

# The mounts are gone with the namespace.
# shellcheck disable=SC2016  # the inner shell expands
unshare --mount bash -euc '
  root=$1
  shift
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  exec chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    bash -c "cd /src && exec \"\$@\"" fresh "$@"
' fresh "$root" "$@"
