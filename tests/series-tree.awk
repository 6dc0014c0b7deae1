# SPDX-License-Identifier: GPL-2.0-only
#
# awk -v dir=DIR -f series-tree.awk PATCH...: the files in which these patches
# apply one after the other, below DIR. Only the lines that the patches show are
# those of the kernel; the others are filler, at the places where they stand.
# The function that a hunk header names stands right above what is known.
# Exit 1: two patches want different lines at one place.

function line_at(f, i) {
	while (len[f] < i) {
		cur[f, ++len[f]] = ++ids
		base[f, ++blen[f]] = ids
	}
	return cur[f, i]
}

# Line pos of the file must have been text, before.
function want(f, text,    id) {
	id = line_at(f, pos)
	if (!(id in known))
		known[id] = text
	else if (known[id] != text) {
		printf "%s:%d: wants \"%s\", but there is \"%s\"\n", FILENAME, FNR, text, known[id] >"/dev/stderr"
		bad = 1
	}
}

function take_out(f,    i) {
	for (i = pos; i < len[f]; i++)
		cur[f, i] = cur[f, i + 1]
	len[f]--
}

function put_in(f, text,    i) {
	line_at(f, pos - 1)
	for (i = ++len[f]; i > pos; i--)
		cur[f, i] = cur[f, i - 1]
	cur[f, pos] = ++ids
	known[ids] = text
}

FNR == 1 { old = new = 0; file = "" }
old > 0 || new > 0 {
	text = substr($0, 2)
	if (/^\+/) { put_in(file, text); pos++; new-- }
	else if (/^-/) { want(file, text); take_out(file); old-- }
	else { want(file, text); pos++; old--; new-- }
	next
}
/^--- a\// { file = substr($0, 7); sub(/\t.*/, "", file); files[file]; next }
/^@@ -/ && file != "" {
	split($2, o, ","); split($3, n, ",")
	old = 2 in o ? o[2] : 1
	new = 2 in n ? n[2] : 1
	pos = substr(n[1], 2) + 0
	name = $0
	if (sub(/^@@ [^@]* @@ /, "", name) && pos > 1)
		above[line_at(file, pos - 1)] = name
}
END {
	for (file in files) {
		out = dir "/" file
		parent = out
		sub(/\/[^\/]*$/, "", parent)
		system("mkdir -p '" parent "'")
		for (i = 1; i <= blen[file] + 9; i++) {
			id = i <= blen[file] ? base[file, i] : 0
			print id in known ? known[id] : id in above ? above[id] : "\tfill " i ";" >out
		}
		close(out)
	}
	exit bad
}
