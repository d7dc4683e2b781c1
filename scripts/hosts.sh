#!/usr/bin/env bash
# Installs the programs that hosts.lock pins, through the npm client, each into
# DIR/NAME-VERSION with its program in the folder bin in there, and prints those folders,
# one a line, in the order asked for. DIR is CUTROOM_HOSTS, or .cache/cutroom/hosts in the home
# folder. What is already there is not fetched again; no install script of a package runs.
#
#   scripts/hosts.sh [NAME...]      (default: every name of hosts.lock)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lock=$here/hosts.lock
dir=${CUTROOM_HOSTS:-${HOME:?HOME is not set}/.cache/cutroom/hosts}
tmp=
trap '[[ -z $tmp ]] || rm -rf "$tmp"' EXIT

say() { printf 'hosts: %s\n' "$*" >&2; }

mapfile -t pins < <(grep -v -e '^#' -e '^before ' "$lock")
before=$(sed -n 's/^before //p' "$lock")
((${#pins[@]} > 0)) && [[ -n $before ]] || { say "$lock pins nothing"; exit 1; }

# pin NAME: the line of hosts.lock.
pin() {
	local line
	for line in "${pins[@]}"; do
		[[ $line == "$1 "* ]] && { printf '%s\n' "$line"; return; }
	done
	say "hosts.lock has no $1; it has:$(printf ' %s' "${pins[@]%% *}")"
	return 2
}

# possible: what an install needs is here.
possible() {
	if [[ $(uname -s)/$(uname -m) != Linux/x86_64 ]]; then
		say "the packages are pinned for Linux on x86-64 alone; cannot install here"
		return 1
	fi
	command -v npm >/dev/null || { say "npm is not installed; cannot install $1"; return 127; }
}

# fetched PACKAGE: what npm says about the archive that it installed in $tmp.
fetched() {
	awk -v key="\"node_modules/${1%@*}\": {" '
		index($0, key) { here = 1 }
		here && /"integrity":/ { split($0, part, "\""); print part[4]; exit }' "$tmp/node_modules/.package-lock.json"
}

# install NAME PACKAGE INTEGRITY PROGRAM TARGET: makes TARGET beside itself, then renames.
install() {
	local log=$dir/.$1.log program=${4#*=} as=${4%%=*} sum
	tmp=$(mktemp -d "$dir/.$1-XXXXXX")
	say "installing $2"
	if ! npm install --prefix "$tmp" --ignore-scripts --no-audit --no-fund --no-save --no-update-notifier \
		--before "$before" "$2" </dev/null >"$log" 2>&1; then
		say "npm could not install $2: $(grep -i 'error' "$log" | head -n 1 || true)"
		return 1
	fi
	sum=$(fetched "$2")
	if [[ $sum != "$3" ]]; then
		say "$2 came with another SHA-512 than hosts.lock pins (${sum:-none}); nothing of it was installed"
		return 1
	fi
	if [[ ! -f $tmp/node_modules/${2%@*}/$program ]]; then
		say "$2 holds no $program; nothing of it was installed"
		return 1
	fi
	chmod 755 "$tmp" "$tmp/node_modules/${2%@*}/$program"
	mkdir "$tmp/bin"
	ln -s "../node_modules/${2%@*}/$program" "$tmp/bin/$as"
	rm -f "$log"
	mv -T "$tmp" "$5"
	tmp=
}

((${#} > 0)) || set -- "${pins[@]%% *}"
for name; do
	line=$(pin "$name")
	read -r _ package sum program <<<"$line"
	target=$dir/$name-${package##*@}
	if [[ ! -d $target ]]; then
		possible "$package"
		mkdir -p "$dir"
		exec 9>"$dir/.$name.lock" # two installers at once: the second waits, then finds it done
		flock 9
		if [[ ! -d $target ]]; then # not with ||: that would switch off "set -e" within
			install "$name" "$package" "$sum" "$program" "$target"
		fi
		exec 9>&-
	fi
	printf '%s\n' "$target"
done
