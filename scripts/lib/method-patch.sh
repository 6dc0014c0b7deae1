# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# --method patch: the files are edited, and nothing else is known of. The names
# are those that method.sh and journal.sh call.

patch_refuse() { :; }

# patch_prepare: sets OLD and NEW, and the list for the journal.
patch_prepare() {
	local files
	mapfile -t files < <(touched_files)
	OLD=$SCRATCH/tree NEW=$(outcome)
	journal_list "$OLD" "$NEW" "${files[@]}" >"$SCRATCH/list" || infra_scratch
}

patch_begin() { :; }
patch_commit() { :; }
patch_committed() { false; }
patch_finish() { :; }
patch_undo() { :; }
