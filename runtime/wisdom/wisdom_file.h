/* In: the caller's choice (`--wisdom`, tfgen_plan_options.wisdom) and the environment. Out: the wisdom (gen/plan/wisdom.h) that plans use;
 * additions to the file. Bails if a named file cannot be read or is not a wisdom file; a missing or damaged file in the default place means
 * no wisdom. */
#ifndef TFGEN_WISDOM_FILE_H
#define TFGEN_WISDOM_FILE_H
#include "gen/plan/wisdom.h"

/* $XDG_DATA_HOME/tfgen/FILE, else ~/.local/share/tfgen/FILE; NULL without a home. */
const char *wisdom_data_path(arena *a, const char *file);
/* $TFGEN_WISDOM, else $XDG_DATA_HOME/tfgen/wisdom, else ~/.local/share/tfgen/wisdom; NULL: none, by TFGEN_WISDOM=none or without a home. */
const char *wisdom_path(arena *a);
/* given: a path; "none"; NULL: the file in the default place, whose entries take precedence over the shipped ones. Returns NULL for no
 * wisdom. Bails. */
const wisdom *wisdom_load(arena *a, const char *given);
/* The file's wisdom alone, with stale lines; empty if the file is missing or empty. Bails, also if it is not a wisdom file. */
wisdom *wisdom_load_file(arena *a, const char *path);

const wisdom *wisdom_shipped(arena *a); /* the shipped wisdom (runtime/wisdom/shipped.def) */
/* All entries of x, and those of y whose key x does not have. */
wisdom *wisdom_over(arena *a, const wisdom *x, const wisdom *y);
/* Both lists, with the better entry for each key; then x's stale entries. */
wisdom *wisdom_merge(arena *a, const wisdom *x, const wisdom *y);
const char *wisdom_text(arena *a, const wisdom *w, bool stale); /* stale: with the stale lines, unchanged */

typedef struct wisdom_change {
    int added, replaced, kept; /* how many of the entries to add had a new key; replaced a worse entry of the file; were left out because
                                * the file has a better one */
} wisdom_change;
/* Adds entries to the file, under a lock file, since other processes may add at the same time. Makes its folder. Bails, and leaves the file
 * alone, if it is not a wisdom file. */
wisdom_change wisdom_add(arena *a, const char *path, const wisdom *more);
/* Bails if wisdom_add() would, before there is anything to add. Makes the file's folder and its lock file. */
void wisdom_check_file(arena *a, const char *path);
#endif
