/* Contract: clocks.h. Gives a line, or why there is none. */
#define _GNU_SOURCE
#include "runtime/cli/tune/clocks.h"
#include "runtime/system/input.h"
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static clocks unreadable(const char *why) { return (clocks){NULL, why}; }

/* ---- NVIDIA */
enum { nvml_success = 0, nvml_clock_sm = 1, nvml_clock_memory = 2, nvml_temperature_gpu = 0 };

typedef struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*find)(const char *bus, void **device);
    int (*clock)(void *device, int kind, unsigned *mhz);
    int (*most)(void *device, int kind, unsigned *mhz);
    int (*power)(void *device, unsigned *milliwatts);
    int (*limit)(void *device, unsigned *milliwatts);
    int (*heat)(void *device, int sensor, unsigned *celsius);
} nvml;

static const char *load_nvml(arena *a, nvml *n)
{
    static const char *const names[] = {"nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetClockInfo",
                                        "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetEnforcedPowerLimit",
                                        "nvmlDeviceGetTemperature"};
    const char *own = secure_getenv("TFGEN_LIBNVML"), *path = own && *own ? own : "libnvidia-ml.so.1";
    char refusal[400];
    void *library = input_library(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, refusal, sizeof refusal);
    if (!library) return arena_strdup(a, refusal);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *found = dlsym(library, names[i]);
        if (!found) return arena_printf(a, "%s has no %s", path, names[i]);
        memcpy((char *)n + i * sizeof(void *), &found, sizeof found);
    }
    return NULL;
}

static clocks read_nvml(arena *a, const nvml *n, const char *bus)
{
    void *d;
    unsigned sm, most_sm, memory, most_memory, power, limit, heat;
    if (n->find(bus, &d) != nvml_success) return unreadable(arena_printf(a, "NVML knows no device at %s", bus));
    if (n->clock(d, nvml_clock_sm, &sm) || n->most(d, nvml_clock_sm, &most_sm) || n->clock(d, nvml_clock_memory, &memory) ||
        n->most(d, nvml_clock_memory, &most_memory))
        return unreadable("NVML does not report this device's clocks");
    text t = {.a = a};
    text_printf(&t, "sm %u of %u MHz, memory %u of %u MHz", sm, most_sm, memory, most_memory);
    if (!n->power(d, &power) && !n->limit(d, &limit)) text_printf(&t, ", %u of %u W", power / 1000, limit / 1000);
    if (!n->heat(d, nvml_temperature_gpu, &heat)) text_printf(&t, ", %u C", heat);
    return (clocks){t.data, NULL};
}

static clocks of_nvidia(arena *a, const char *bus)
{
    nvml n;
    const char *why = load_nvml(a, &n);
    if (why) return unreadable(why);
    if (n.init() != nvml_success) return unreadable("nvmlInit fails");
    const clocks c = read_nvml(a, &n, bus);
    n.shutdown();
    return c;
}

/* ---- AMD: "1: 1250Mhz *"; the star marks the current level */
static bool read_levels(const char *folder, const char *name, long *now, long *most)
{
    char path[512], line[128];
    *now = *most = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        const long mhz = colon ? strtol(colon + 1, NULL, 10) : 0;
        if (mhz > *most) *most = mhz;
        if (strchr(line, '*')) *now = mhz;
    }
    if (f) fclose(f);
    return *now > 0;
}

clocks clocks_of_folder(arena *a, const char *folder)
{
    long core, most_core, memory, most_memory;
    if (!read_levels(folder, "pp_dpm_sclk", &core, &most_core) || !read_levels(folder, "pp_dpm_mclk", &memory, &most_memory))
        return unreadable(arena_printf(a, "%s/pp_dpm_sclk and pp_dpm_mclk do not report clocks", folder));
    return (clocks){arena_printf(a, "core %ld of %ld MHz, memory %ld of %ld MHz", core, most_core, memory, most_memory), NULL};
}

static clocks of_amd(arena *a, const char *bus)
{
    char *lower = arena_strdup(a, bus);
    for (char *p = lower; *p; p++) *p = (char)tolower((unsigned char)*p);
    return clocks_of_folder(a, arena_printf(a, "/sys/bus/pci/devices/%s", lower));
}

clocks clocks_now(arena *a, const tfgen_device *d)
{
    if (d->api == &host_device) return unreadable("each processor core has its own clock");
    if (!*d->bus) return unreadable("the driver does not report the device's PCI bus");
    return d->api == &cuda_device ? of_nvidia(a, d->bus) : of_amd(a, d->bus);
}
