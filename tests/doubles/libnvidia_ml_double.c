/* In: NVML's calls that runtime/cli/tune/clocks.c makes. Out: one device at 0000:41:00.0, whose power cannot be read where
 * TFGEN_DOUBLE_NO_POWER is set. Refuses other PCI addresses. */
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { not_found = 6, not_supported = 3 };
static int device;

EXPORT int nvmlInit_v2(void) { return 0; }
EXPORT int nvmlShutdown(void) { return 0; }
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **out)
{
    *out = &device;
    return strcmp(bus, "0000:41:00.0") == 0 ? 0 : not_found;
}
EXPORT int nvmlDeviceGetClockInfo(void *d, int kind, unsigned *mhz) { return (void)d, *mhz = kind == 1 ? 1755 : 3201, 0; }
EXPORT int nvmlDeviceGetMaxClockInfo(void *d, int kind, unsigned *mhz) { return (void)d, *mhz = kind == 1 ? 1980 : 3201, 0; }
EXPORT int nvmlDeviceGetPowerUsage(void *d, unsigned *milliwatts)
{
    *milliwatts = 421900;
    return (void)d, getenv("TFGEN_DOUBLE_NO_POWER") ? not_supported : 0;
}
EXPORT int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *milliwatts) { return (void)d, *milliwatts = 700000, 0; }
EXPORT int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *celsius) { return (void)d, (void)sensor, *celsius = 45, 0; }
