/* See trial.h. Shared by its files: the state of a trial, and access to the device's values. */
#ifndef TFGEN_TRIAL_INSIDE_H
#define TFGEN_TRIAL_INSIDE_H
#include "runtime/cli/trial.h"
#include "runtime/module/guarded_run.h"

typedef struct trial {
    arena *a;
    const ir_graph *graph;
    const plan *plan;
    int at; /* of a stack: the layer that is judged */
    const trial_options *o;
    guarded_run *s;
    host_log log;
    const ref_tensor *inputs; /* by value id of inputs_of */
    const ir_graph *inputs_of; /* the graph for which they were made: of a stack, that of the last layer judged */
    const ref_tensor **given;
    bool *judged; /* with trial_options.only: by launch, whether its values are judged */
    bool choices; /* rounding decides some stored number: ref_rules.choose */
    ref_tensor **exact, **judging; /* outputs by graph value id: exact, for any device; and computed with this device's choices of
                                    * rounding */
    ref_tensor *open; /* by graph value id: an output with numbers that rounding decides, before the device's numbers replaced them */
    tfgen_code lost; /* error of a copy inside the reference, reported after it has freed its memory */
    trial_result result;
    int check_room; /* checks for which result.checks has room */
} trial;

/* trial_values.c */
const ir_value *trial_planned(const trial *t, const ir_value *v); /* the plan's value with the name of a graph's value */
bool trial_in_memory(const trial *t, const ir_value *graph_value);
void trial_need(trial *t, tfgen_code code); /* bails unless code_ok */
tfgen_code trial_no_memory(trial *t);       /* logs the error, returns code_device */
double trial_element(dtype type, const void *data, size_t at);
void *trial_fetched(trial *t, const ir_value *v, tfgen_code *code); /* a copy of a value's storage, freed by the caller; NULL: see *code */
tfgen_code trial_try_download(trial *t, const ir_value *v, double *out); /* the device's numbers of a plan's value, through its view */
void trial_download(trial *t, const ir_value *v, double *out);

/* trial_judge.c: compares every stored value and every output with the reference. */
void trial_judge(trial *t);
const double *trial_bounds(trial *t, const ref_tensor *r);

/* trial_files.c: outputs with the states after the run (the next step's --state); and the files of --dump-data. */
void trial_write_outputs(trial *t);
void trial_write_data(trial *t);

#endif
