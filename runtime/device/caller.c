/* In: options, structs and errors of the public interface's callers; names of kernels. Out: options converted to this version's structs,
 * results to the caller's; a status with its error text; the symbols of kernels. Refuses options of invalid size. */
#include "runtime/device/device.h"
#include "gen/base/names.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Removes trailing newlines and the like, and, where the text was cut, a partial UTF-8 character. */
static void trim(char *text, bool cut)
{
    size_t n = strlen(text), first = n;
    while (cut && first && ((unsigned char)text[first - 1] & 0xc0) == 0x80) first--;
    if (cut && first && ((unsigned char)text[first - 1] & 0x80)) n = first - 1;
    while (n && (text[n - 1] == '\n' || text[n - 1] == ' ')) n--;
    text[n] = 0;
}

tfgen_status device_report(tfgen_error *error, tfgen_status status, const char *format, ...)
{
    va_list arguments;
    if (!error) return status;
    va_start(arguments, format);
    const int n = vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    trim(error->text, n >= (int)sizeof error->text);
    return status;
}

tfgen_status device_report_arena(tfgen_error *error, tfgen_code code, const arena *a)
{
    const char *text = arena_diagnostics(a), nameless[] = "error: ";
    if (strncmp(text, nameless, sizeof nameless - 1) == 0) text += sizeof nameless - 1;
    return device_report(error, (tfgen_status)code, "%s", text);
}

tfgen_status device_seats(const tfgen_device *d, int each, const launch_shape *shape, unsigned *workgroups, tfgen_error *error)
{
    if (each < 1)
        return device_report(error, TFGEN_UNSUPPORTED,
                             "no multiprocessor of %s holds a workgroup of it (%u threads, %u bytes of shared memory)", d->info.name,
                             shape->threads, shape->shared_bytes);
    *workgroups = (unsigned)each * (unsigned)(d->info.multiprocessors > 0 ? d->info.multiprocessors : 1);
    return TFGEN_OK;
}

const char *kernel_symbol(const char *name, char symbol[symbol_room])
{
    snprintf(symbol, symbol_room, "%s%s", name, name_marks[name_value]);
    return symbol;
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
