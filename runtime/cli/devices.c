/* In: nothing. Out: the devices of this machine as a table or JSON, and why a kind has none. Refuses nothing: the host is always there. */
#define _GNU_SOURCE
#include "runtime/cli/cli.h"
#include "runtime/device/device.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *memory_text(arena *a, int64_t bytes) { return arena_printf(a, "%.1f GB", (double)bytes / (1 << 30)); }

/* What a vendor's library says goes to terminals and into JSON. */
static const char *plain(arena *a, const char *s)
{
    char *copy = arena_strdup(a, s);
    for (char *p = copy; *p; p++)
        if (*p < ' ' || *p > '~') *p = '?';
    return copy;
}

static json_t *device_json(arena *a, const tfgen_device_info *d)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:I}", "name", d->name, "label", plain(a, d->label), "arch", plain(a, d->arch), "target",
                     d->target, "units", d->multiprocessors, "memory_bytes", (json_int_t)d->memory_bytes);
}

static void print_device(arena *a, const tfgen_device_info *d)
{
    printf("%-8s %-36s %-24s %-9s %5d %10s\n", d->name, plain(a, d->label), plain(a, d->arch), *d->target ? d->target : "-",
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
                                  json_pack("{s:s, s:i, s:s}", "kind", kind->kind, "ordinal", i, "why", plain(l->a, error.text)));
        } else {
            printf("%s:%d cannot be opened: %s\n", kind->kind, i, plain(l->a, error.text));
        }
    }
    if (count > 0) return;
    if (l->json) json_array_append_new(l->missing, json_pack("{s:s, s:s}", "kind", kind->kind, "why", plain(l->a, why)));
    else printf("%s%-8s none: %s%s\n", colour_code(stdout, colour_dim), kind->kind, plain(l->a, why), colour_code(stdout, colour_none));
}

static void list_devices(void *argument)
{
    listing *l = argument;
    const char *pretends = secure_getenv("HSA_OVERRIDE_GFX_VERSION");
    if (pretends && *pretends)
        fprintf(
            stderr,
            "tfgen: warning: HSA_OVERRIDE_GFX_VERSION=%s: AMD GPUs pretend to be another; the value is part of each kernel's key in the "
            "cache\n",
            plain(l->a, pretends));
    l->devices = json_array();
    l->missing = json_array();
    if (!l->json) printf("%-8s %-36s %-24s %-9s %5s %10s\n", "name", "label", "architecture", "target", "units", "memory");
    for (size_t k = 0; k < device_kind_count; k++) list_kind(l, device_kinds[k]);
    json_t *all = json_pack("{s:o, s:o}", "devices", l->devices, "missing", l->missing);
    if (l->json) {
        json_dumpf(all, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(all);
}

int command_devices_main(const cli_options *o)
{
    listing l = {.a = arena_new(), .json = o->json != NULL};
    return cli_run(list_devices, &l, l.a);
}
