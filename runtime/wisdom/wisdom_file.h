/* In: what a caller asks (`--wisdom`, tfgen_plan_options.wisdom) and the environment. Out: the wisdom (gen/plan/wisdom.h) that plans use,
 * and the file with what was learned added. Refuses a file that was named and cannot be read or is something else; a file in the usual
 * place that is not there, or is damaged, is no wisdom. */
#ifndef TFGEN_WISDOM_FILE_H
#define TFGEN_WISDOM_FILE_H
#include "gen/plan/wisdom.h"

/* $XDG_DATA_HOME/tfgen/FILE, else ~/.local/share/tfgen/FILE; NULL without a home. */
const char *wisdom_data_path(arena *a, const char *file);
/* $TFGEN_WISDOM, else $XDG_DATA_HOME/tfgen/wisdom, else ~/.local/share/tfgen/wisdom; NULL: none, by TFGEN_WISDOM=none or without a home. */
const char *wisdom_path(arena *a);
/* given: a path, "none", or NULL: the usual place, and under it what is part of tfgen. NULL: there is none. Bails. */
const wisdom *wisdom_load(arena *a, const char *given);
/* The file's own, with stale lines; empty where there is no file, or nothing in it. Bails: of something else, too. */
wisdom *wisdom_load_file(arena *a, const char *path);

const wisdom *wisdom_shipped(arena *a); /* what is part of tfgen (runtime/wisdom/shipped.def) */
/* All of x, and of y what x has no entry for. */
wisdom *wisdom_over(arena *a, const wisdom *x, const wisdom *y);
/* Of two lists one entry a key, the better one, used ones first. */
wisdom *wisdom_merge(arena *a, const wisdom *x, const wisdom *y);
const char *wisdom_text(arena *a, const wisdom *w, bool stale); /* stale: those lines too, as they are */

typedef struct wisdom_change {
    int added, replaced, kept; /* of what was to be added: keys that were not there; whose entry gave way; whose entry was better */
} wisdom_change;
/* Adds to the file, of which others may be adding at the same time: a lock beside it. Makes its folder. Bails: a file of
 * something else stays what it is. */
wisdom_change wisdom_add(arena *a, const char *path, const wisdom *more);
#endif
