/* In: device files, built in or a user's. Out: a device's properties, for planning and benchmarks. Refuses files that do not follow
 * ir/devices/facts.def, with file:line:col. */
#ifndef TFGEN_IR_DEVICE_MODEL_H
#define TFGEN_IR_DEVICE_MODEL_H
#include "ir/ir.h"

typedef enum fact_source { source_none, source_measured, source_data_sheet, source_chosen, source_count } fact_source;

typedef enum device_number {
#define NUMBER(key, least, most, help) number_##key,
#include "ir/devices/facts.def"
    number_count
} device_number;

typedef enum device_rate {
#define RATE(key, help) rate_##key,
#include "ir/devices/facts.def"
    rate_count
} device_rate;

typedef enum device_count {
#define COUNT(key, least, most, required, help) fact_##key,
#include "ir/devices/facts.def"
    fact_counts
} device_count;

typedef struct device_fact {
    double value; /* 0: the file does not say */
    fact_source source;
    const char *note; /* where it comes from */
} device_fact;

typedef struct device_rates {
    double of[dtype_count]; /* by dtype; 0: the file does not say */
    fact_source source;
    const char *note;
} device_rates;

typedef struct device_model {
    const char *name;  /* for --device-model and the plan's text: letters, digits and - */
    const char *label; /* for people */
    const char *match; /* substring of the name that the device reports, or NULL */
    const target_info *target;
#define COUNT(key, least, most, required, help) int key;
#include "ir/devices/facts.def"
    device_fact counts[fact_counts]; /* the same numbers, with their sources */
    device_fact numbers[number_count];
    device_rates rates[rate_count];
} device_model;

/* Parses a device file; errors name `path`. Bails on errors. Makes the text the arena's source. */
device_model *device_model_read(arena *a, const char *text, size_t size, const char *path);

/* The model as the text of a device file, which reads back as the same model. */
const char *device_model_print(arena *a, const device_model *d);

/* Built-in models (ir/devices/models.def), by index; the arena's source is unchanged. */
size_t device_model_total(void);
device_model *device_model_at(arena *a, size_t index);
const char *device_model_text(size_t index, size_t *size);    /* the file */
device_model *device_model_find(arena *a, const char *name);  /* NULL: there is none */
device_model *device_model_named(arena *a, const char *name); /* bails on an unknown name, listing all names */
device_model *device_model_default(arena *a, const target_info *target);
/* The model of a device that reports the name `label`: the one with the longest `match` in it, else the target's default. */
device_model *device_model_of(arena *a, const target_info *target, const char *label);
double device_last_level(const device_model *d); /* bytes of the last-level cache; 0: unknown */
double device_latency(const device_model *d);    /* of a load from memory, in seconds; an H200's if the file gives none */
#endif
