#!/usr/bin/env bash
# Debian packages and the bundle on a Debian where nothing is installed:
#   packages.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
command -v cpack >/dev/null || { echo "skipped: no cpack"; exit 77; }
command -v dpkg-deb >/dev/null || { echo "skipped: no dpkg-deb"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/files"
for kind in DEB TGZ; do
  (cd "$build" && cpack -G $kind -B "$work/packed") >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log"; exit 1; }
done
cp "$work"/packed/*.deb "$work"/packed/*.tar.gz "$work/files/"
cat >"$work/files/try.sh" <<'END'
set -euo pipefail
cd "$(mktemp -d)"
run() {
  "$1/bin/nvbw-host" -c plans/quick.cfg --driver "$1/lib/nvbw/sim/libcuda_sim.so" \
    --sim-profile h200_x2 --set 'defaults.buffer_size="1 MiB"' \
    --set 'defaults.mode="fixed"' --report html=run.html -q
  grep -q '</html>' run.html
}
find / -xdev -path /proc -prune -o -print | grep -v '^/tmp' | sort >before
dpkg -i /files/nvbw-host_*.deb /files/nvbw-plugins_*.deb /files/nvbw-sim_*.deb \
  /files/nvbw-dev_*.deb >dpkg.out 2>&1 || { cat dpkg.out; exit 1; }
nvbw-host --version
run /usr
test -s /usr/include/nvbw/plugin.h
for deb in /files/nvbw-multinode_*.deb; do
  # Without its MPI, which is the site's, it is there and says what it lacks.
  [ -e "$deb" ] || continue
  dpkg -i --force-depends "$deb" >dpkg.out 2>&1 || { cat dpkg.out; exit 1; }
  nvbw-host list >list.out
  grep -A 2 '^multinode ' list.out | grep -qF 'skip (no_mpi)' ||
    { cat list.out; exit 1; }
  dpkg -P nvbw-multinode >dpkg.out 2>&1
done
dpkg -P nvbw-dev nvbw-sim nvbw-plugins nvbw-host >dpkg.out 2>&1
find / -xdev -path /proc -prune -o -print | grep -v '^/tmp' | sort >after
# What is left is the package system's.
left=$(comm -13 before after | grep -v '^/var/' || true)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
mkdir bundle
tar -xzf /files/nvbw-host-*.tar.gz -C bundle --strip-components=1
run "$PWD/bundle"
END
NVBW_FRESH_FILES=$work/files "$(dirname "$0")/fresh_root.sh" "$source" \
  bash /files/try.sh
