/* In: a device that has just run something. Out: its clocks, power and temperature, to explain measured times later. Read by NVML
 * (libnvidia-ml.so.1, loaded at run time, or the library that TFGEN_LIBNVML names) or from amdgpu's files in /sys. Unreadable: a reason. */
#ifndef TFGEN_TUNE_CLOCKS_H
#define TFGEN_TUNE_CLOCKS_H
#include "runtime/device/device.h"

typedef struct clocks {
    const char *text; /* "sm 1755 of 1980 MHz, memory 3201 of 3201 MHz, 421 of 700 W, 45 C"; NULL: they cannot be read */
    const char *why;  /* why they cannot be read, or NULL */
} clocks;

clocks clocks_now(arena *a, const tfgen_device *d);
clocks clocks_of_folder(arena *a, const char *folder); /* /sys/bus/pci/devices/0000:41:00.0 */
#endif
