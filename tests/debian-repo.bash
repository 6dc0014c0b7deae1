# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A small signed Debian archive below a folder, for the tests of fetch-tree.sh.

SUITES='bookworm bookworm-security bookworm-backports trixie trixie-security trixie-backports'

# repo_key DIR: a signing key in DIR/gnupg, and DIR/keyring.gpg to check it by.
repo_key() {
	export GNUPGHOME=$1/gnupg
	mkdir -m 700 "$GNUPGHOME"
	gpg --batch --quiet --passphrase '' --quick-generate-key archive@kit.invalid ed25519 sign never 2>/dev/null
	gpg --batch --export >"$1/keyring.gpg"
}

# repo_package DIR SUITE LTS PKGVERSION RELEASE: a package linux-source-LTS of
# version PKGVERSION, with a tree of RELEASE in it, for SUITE.
repo_package() {
	local repo=$1 suite=$2 lts=$3 pkg=$4 dir
	dir=$(mktemp -d)
	make_tree "$5" "$dir/linux-source-$lts"
	printf '%s\n' "$pkg" >"$dir/linux-source-$lts/revision"
	mkdir -p "$dir/deb/DEBIAN" "$dir/deb/usr/src" "$repo/pool/$suite"
	tar -cJf "$dir/deb/usr/src/linux-source-$lts.tar.xz" -C "$dir" "linux-source-$lts"
	printf '%s\n' "Package: linux-source-$lts" "Version: $pkg" 'Architecture: all' \
		'Maintainer: Kit Test <test@kit.invalid>' 'Description: a tree of the tests' >"$dir/deb/DEBIAN/control"
	dpkg-deb --root-owner-group -Znone -b "$dir/deb" "$repo/pool/$suite/linux-source-${lts}_${pkg}_all.deb" >/dev/null
	rm -rf "$dir"
}

# repo_index DIR [SUITE...]: write and sign the indices of the suites.
repo_index() {
	local repo=$1 suite arch
	arch=$(dpkg --print-architecture)
	shift
	for suite; do
		mkdir -p "$repo/pool/$suite" "$repo/dists/$suite/main/binary-$arch"
		(cd "$repo" && dpkg-scanpackages -m "pool/$suite" 2>/dev/null) >"$repo/dists/$suite/main/binary-$arch/Packages"
		repo_release "$repo/dists/$suite" "$suite" "$arch"
	done
}

# repo_release DIR SUITE ARCH
repo_release() {
	local f=main/binary-$3/Packages
	printf '%s\n' 'Origin: Debian' "Suite: $2" "Codename: $2" "Date: $(date -Ru)" \
		"Architectures: $3 all" 'Components: main' 'SHA256:' \
		" $(sha256sum <"$1/$f" | cut -d' ' -f1) $(stat -c %s "$1/$f") $f" >"$1/Release"
	gpg --batch --quiet --yes --clearsign -o "$1/InRelease" "$1/Release"
}

# repo_make DIR: the archive that most tests use. 6.12.95 is there in two
# Debian revisions, and the newest 6.12 is in a suite of its own.
repo_make() {
	repo_key "$1"
	repo_package "$1" bookworm-backports 6.12 '6.12.95-1~bpo12+1' 6.12.95
	repo_package "$1" bookworm-security 6.12 '6.12.95-2' 6.12.95
	repo_package "$1" trixie-security 6.12 '6.12.118-1' 6.12.118
	repo_package "$1" trixie 6.12 '6.12.9-1' 6.12.9
	repo_package "$1" bookworm 6.1 '6.1.170-3' 6.1.999
	# shellcheck disable=SC2086 # a list of names
	repo_index "$1" $SUITES
}
