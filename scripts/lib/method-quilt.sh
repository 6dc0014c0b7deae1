# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# --method quilt: refuses everything until it is written (next commits).

quilt_refuse() { die "$EX_TREE" "--method quilt is not there yet; say --method patch"; }
