#!/usr/bin/env bash
# Packs what a release is made of, installs it into an empty prefix, and runs the packed and
# the installed copy as a user would: the contract, doctor and one real edit. Both have to
# promise what the tree promises. Nothing is published: a person does that.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { echo "release-check: $*"; }
fail() { say "$*" >&2; exit 1; }

models=${CUTROOM_MODELS:-${XDG_DATA_HOME:-$HOME/.local/share}/cutroom/models}
[ -d "$models" ] || fail "there are no models in $models; run make setup"

# Of the tree.
tree=${CUTROOM_BIN:-bin/cutroom}
[ -x "$tree" ] || fail "there is no $tree; run make build"
"$tree" contract --static >"$work/tree.json"
version=$("$tree" version | head -n 1 | tr -dc '0-9A-Za-z.+-' | sed 's/^cutroom//')
[ -n "$version" ] || fail "the binary does not say its version"

# Pack: the binary, what is read beside it, and sums of all of it.
name=cutroom-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
mkdir -p "$work/pack/$name/bin"
cp "$tree" "$work/pack/$name/bin/cutroom"
cp -R LICENSE README.md plugin "$work/pack/$name/"
mkdir "$work/pack/$name/docs" && cp -R docs/*.md docs/reference "$work/pack/$name/docs/"
(cd "$work/pack/$name" && find . -type f ! -name SHA256SUMS -print0 | sort -z | xargs -0 sha256sum >SHA256SUMS)
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime='UTC 2026-01-01' -C "$work/pack" -czf "$work/$name.tar.gz" "$name"
say "packed $name.tar.gz, $(stat -c %s "$work/$name.tar.gz") bytes"

# Install into an empty prefix, from the archive alone.
mkdir "$work/prefix" && tar -C "$work/prefix" --strip-components=1 -xzf "$work/$name.tar.gz"
(cd "$work/prefix" && sha256sum --quiet -c SHA256SUMS) || fail "the archive is not what was packed"

# Each copy with a home of its own, and no other cutroom on the PATH.
try() {
	local what=$1 bin=$2 place=$work/$1-place
	mkdir -p "$place/work" "$place/home/data"
	ln -s "$models" "$place/home/data/models"
	cp testdata/media/demo.mp4 "$place/work/clip.mp4"
	run() { (cd "$place/work" && env -u CLAUDECODE -u CUTROOM_AGENT CUTROOM_HOME="$place/home" "$bin" "$@"); }
	run contract --static >"$place/static.json" || fail "$what: contract --static failed"
	cmp "$work/tree.json" "$place/static.json" || fail "$what: it promises something else than the tree"
	run setup >"$place/setup.txt" 2>&1 || { tail -n 20 "$place/setup.txt" >&2; fail "$what: setup failed"; }
	run contract --json >"$place/live.json" || fail "$what: contract --json failed"
	grep -q '"missing":\[\]' "$place/live.json" || fail "$what: a required capability is missing"
	run doctor --json >"$place/doctor.json" || [ $? -eq 3 ] || fail "$what: doctor says that something needed is missing"
	run cut clip.mp4 --start 1 --end 2 -o cut.mp4 --json >"$place/cut.json" || fail "$what: the edit failed"
	grep -q '"status":"completed"' "$place/cut.json" && [ -s "$place/work/cut.mp4" ] || fail "$what: the edit made nothing"
	grep -q '"verified":\[{' "$place/cut.json" || fail "$what: the edit is not verified"
	cmp testdata/media/demo.mp4 "$place/work/clip.mp4" || fail "$what: the edit changed its input"
	say "$what: contract, doctor and an edit are right"
}
try packed "$work/pack/$name/bin/cutroom"
try installed "$work/prefix/bin/cutroom"
cmp "$work/packed-place/live.json" "$work/installed-place/live.json" || fail "the two copies say different things of this machine"
say "ready; publishing is a person's step"
