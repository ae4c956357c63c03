/* Out: the devices of this machine as a table or JSON, with the reason for each kind that has none; with --models the device models that
 * tfgen knows. The host is always listed. */
#define _GNU_SOURCE
#include "runtime/cli/cli.h"
#include "runtime/device/device.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *memory_text(arena *a, int64_t bytes) { return arena_printf(a, "%.1f GB", (double)bytes / (1 << 30)); }

/* Labels come from vendors' libraries, so they are made safe for terminals and JSON. */
static json_t *device_json(arena *a, const tfgen_device_info *d)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:I}", "name", d->name, "label", text_harmless(a, d->label), "arch",
                     text_harmless(a, d->arch), "target", d->target,
                     "units", d->multiprocessors, "memory_bytes", (json_int_t)d->memory_bytes);
}

static void print_device(arena *a, const tfgen_device_info *d)
{
    printf("%-8s %-36s %-24s %-9s %5d %10s\n", d->name, text_harmless(a, d->label), text_harmless(a, d->arch), *d->target ? d->target : "-",
           d->multiprocessors, memory_text(a, d->memory_bytes));
}

typedef struct listing {
    arena *a;
    bool json;
    json_t *devices, *missing;
} listing;

static void list_kind(listing *l, const device_api *kind)
{
    char why[400] = "";
    const int count = kind->count(why, sizeof why);
    for (int i = 0; i < count; i++) {
        tfgen_device *device;
        tfgen_error error = {""};
        if (kind->open(i, &device, &error) == TFGEN_OK) {
            if (l->json) json_array_append_new(l->devices, device_json(l->a, &device->info));
            else print_device(l->a, &device->info);
            tfgen_device_close(device);
        } else if (l->json) {
            json_array_append_new(l->missing,
                                  json_pack("{s:s, s:i, s:s}", "kind", kind->kind, "ordinal", i, "why", text_harmless(l->a, error.text)));
        } else {
            printf("%s:%d cannot be opened: %s\n", kind->kind, i, text_harmless(l->a, error.text));
        }
    }
    if (count > 0) return;
    const char *said = text_harmless(l->a, why);
    if (l->json) json_array_append_new(l->missing, json_pack("{s:s, s:s}", "kind", kind->kind, "why", said));
    else printf("%s%-8s none: %s%s\n", colour_code(stdout, colour_dim), kind->kind, said, colour_code(stdout, colour_none));
}

static void list_devices(void *argument)
{
    listing *l = argument;
    const char *pretends = secure_getenv("HSA_OVERRIDE_GFX_VERSION");
    if (pretends && *pretends)
        fprintf(
            stderr,
            "tfgen: warning: HSA_OVERRIDE_GFX_VERSION=%s: AMD GPUs claim that version; the value is part of each kernel's key in the "
            "cache\n",
            text_harmless(l->a, pretends));
    l->devices = json_array();
    l->missing = json_array();
    if (!l->json) printf("%-8s %-36s %-24s %-9s %5s %10s\n", "name", "label", "architecture", "target", "units", "memory");
    for (size_t k = 0; k < device_kind_count; k++) list_kind(l, device_kinds[k]);
    json_t *all = json_pack("{s:o, s:o}", "devices", l->devices, "missing", l->missing);
    if (l->json) cli_print_json(all);
    json_decref(all);
}

/* ---- --models */
static json_t *model_json(const device_model *d)
{
    return json_pack("{s:s, s:s, s:s?, s:s, s:b, s:i, s:i, s:f, s:f}", "name", d->name, "label", d->label, "match", d->match, "target",
                     d->target->name, "default", strcmp(d->name, d->target->device) == 0, "units", d->units, "chiplets", d->chiplets,
                     "memory_bytes", d->numbers[number_memory].value, "bandwidth", d->numbers[number_bandwidth].value);
}

static void print_model(const device_model *d)
{
    const char *mark = strcmp(d->name, d->target->device) == 0 ? "*" : "";
    const double memory = d->numbers[number_memory].value, bandwidth = d->numbers[number_bandwidth].value;
    printf("%-12s %-9s %5d %8d ", d->name, d->target->name, d->units, d->chiplets);
    if (memory > 0)
        printf("%7.0f GB %6.2f TB/s", memory * 1e-9, bandwidth * 1e-12);
    else
        printf("%10s %11s", "-", "-");
    printf("  %s%s\n", d->label, mark);
}

static void list_models(void *argument)
{
    listing *l = argument;
    json_t *all = json_array();
    if (!l->json)
        printf("%-12s %-9s %5s %8s %10s %11s  label (*: its target's default)\n", "name", "target", "units",
               "chiplets", "memory", "bandwidth");
    for (size_t i = 0; i < device_model_total(); i++) {
        const device_model *d = device_model_at(l->a, i);
        if (l->json)
            json_array_append_new(all, model_json(d));
        else
            print_model(d);
    }
    if (l->json) cli_print_json(all);
    json_decref(all);
}

int command_devices_main(const cli_options *o)
{
    listing l = {.a = arena_new(), .json = o->json != NULL};
    return cli_run(o->models ? list_models : list_devices, &l, l.a);
}
