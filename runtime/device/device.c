/* In: names of devices. Out: devices, and the public calls on them, forwarded to the table of the device's kind. Refuses unknown kinds and
 * ordinals, listing what exists; for a kind without devices, with the reason. */
#include "runtime/device/device.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const device_api *const device_kinds[] = {&hip_device, &cuda_device, &host_device};
const size_t device_kind_count = sizeof device_kinds / sizeof *device_kinds;

/* ---- listing and opening */
static tfgen_device_info info_of(const device_api *api, int ordinal)
{
    tfgen_device_info info = {.size = sizeof info};
    tfgen_device *d = NULL;
    tfgen_status status = api->describe ? api->describe(ordinal, &info, NULL) : api->open(ordinal, &d, NULL);
    if (d) {
        info = d->info;
        api->close(d);
    }
    if (status == TFGEN_OK) return info;
    info = (tfgen_device_info){.size = sizeof info}; /* present but unusable */
    snprintf(info.name, sizeof info.name, "%s:%d", api->kind, ordinal);
    return info;
}

size_t tfgen_device_list(tfgen_device_info *list, size_t room)
{
    const size_t each = list && room ? list->size : 0;
    size_t found = 0;
    if (each < sizeof each) list = NULL;
    for (size_t k = 0; k < device_kind_count; k++) {
        const int count = device_kinds[k]->count(NULL, 0);
        for (int i = 0; i < count; i++, found++) {
            if (!list || found >= room) continue;
            const tfgen_device_info info = info_of(device_kinds[k], i);
            give_struct((char *)list + found * each, each, &info, sizeof info);
        }
    }
    return found;
}

static tfgen_status open_best(tfgen_device **out, tfgen_error *error)
{
    for (size_t k = 0; k < device_kind_count; k++) {
        const int count = device_kinds[k]->count(NULL, 0);
        for (int i = 0; i < count; i++) {
            const tfgen_device_info info = info_of(device_kinds[k], i);
            if (*info.target && device_kinds[k]->open(i, out, error) == TFGEN_OK) return TFGEN_OK;
            *out = NULL;
        }
    }
    return device_report(error, TFGEN_DEVICE_ERROR, "no device could be opened");
}

/* "cuda:1" is kind cuda, ordinal 1; "cuda" is ordinal 0. */
static const device_api *kind_of(const char *name, int *ordinal)
{
    const size_t length = strcspn(name, ":");
    *ordinal = 0;
    if (name[length]) {
        char *end;
        const long n = strtol(name + length + 1, &end, 10);
        if (name[length + 1] < '0' || name[length + 1] > '9' || *end || n > INT_MAX) return NULL;
        *ordinal = (int)n;
    }
    for (size_t k = 0; k < device_kind_count; k++)
        if (strlen(device_kinds[k]->kind) == length && !strncmp(device_kinds[k]->kind, name, length)) return device_kinds[k];
    return NULL;
}

tfgen_status tfgen_device_open(const char *name, tfgen_device **out, tfgen_error *error)
{
    int ordinal;
    char why[400] = "";
    if (!out) return device_report(error, TFGEN_USAGE, "tfgen_device_open: device must be given");
    *out = NULL;
    if (!name) return open_best(out, error);
    const device_api *api = kind_of(name, &ordinal);
    if (!api) return device_report(error, TFGEN_USAGE, "'%.40s' is not a device; devices are hip:N, cuda:N and host", name);
    const int count = api->count(why, sizeof why);
    if (count <= 0) return device_report(error, TFGEN_UNSUPPORTED, "there is no %s device: %s", api->kind, *why ? why : "none was found");
    if (ordinal >= count)
        return device_report(error, TFGEN_USAGE, "there is no device '%.40s'; the last of this kind is %s:%d", name, api->kind, count - 1);
    const tfgen_status status = api->open(ordinal, out, error);
    if (status != TFGEN_OK) *out = NULL;
    return status;
}

void tfgen_device_close(tfgen_device *d)
{
    if (d) d->api->close(d);
}

const char *tfgen_device_target(const tfgen_device *d) { return d ? d->info.target : NULL; }

tfgen_status tfgen_device_query(const tfgen_device *d, tfgen_device_info *out)
{
    if (!d || !out || out->size < sizeof out->size) return TFGEN_USAGE;
    give_struct(out, out->size, &d->info, sizeof d->info);
    return TFGEN_OK;
}

/* ---- memory */
tfgen_status tfgen_device_alloc(tfgen_device *d, size_t bytes, void **memory, tfgen_error *error)
{
    if (!d || !memory) return device_report(error, TFGEN_USAGE, "tfgen_device_alloc: device and memory must be given");
    *memory = NULL;
    return d->api->alloc(d, bytes ? bytes : 1, "memory", memory, error);
}

void tfgen_device_free(tfgen_device *d, void *memory)
{
    if (d && memory) d->api->free(d, memory);
}

tfgen_status tfgen_device_copy(tfgen_device *d, void *to, const void *from, size_t bytes, tfgen_copy_kind kind, void *stream,
                               tfgen_error *error)
{
    if (!d || (bytes && (!to || !from)) || kind < TFGEN_TO_DEVICE || kind > TFGEN_ON_DEVICE)
        return device_report(error, TFGEN_USAGE, "tfgen_device_copy: device, to, from and a tfgen_copy_kind must be given");
    return bytes ? d->api->copy(d, to, from, bytes, kind, stream, error) : TFGEN_OK;
}

tfgen_status tfgen_device_synchronize(tfgen_device *d, void *stream, tfgen_error *error)
{
    if (!d) return device_report(error, TFGEN_USAGE, "tfgen_device_synchronize: device must be given");
    return d->api->synchronize(d, stream, error);
}
