/* In: options, structs and errors of callers of the public interface. Out: options as this version knows them, structs as the caller's
 * does, a status with its text. Refuses options whose size makes no sense. */
#include "runtime/device/device.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

tfgen_status device_report(tfgen_error *error, tfgen_status status, const char *format, ...)
{
    va_list arguments;
    if (!error) return status;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}

bool take_options(void *known, size_t known_size, const void *given)
{
    size_t size;
    if (!given) return true;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size) return false;
    memset(known, 0, known_size);
    memcpy(known, given, size < known_size ? size : known_size);
    return true;
}

void give_struct(void *out, size_t room, const void *from, size_t size)
{
    memset(out, 0, room);
    memcpy(out, from, room < size ? room : size);
    memcpy(out, &room, sizeof room);
}
