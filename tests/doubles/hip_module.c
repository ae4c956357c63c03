/* In: code objects and launches. Out: modules, kernels with their metadata, and launches that agree with it. Refuses what the runtime would
 * refuse; a launch that no GPU could run correctly (wrong size of arguments, memory that is not the device's, an unloaded module) is a
 * violation. */
#define _GNU_SOURCE
#include "runtime/compile/codeobject.h"
#include "runtime/host/host.h"
#include "runtime/compile/msgpack.h"
#include "tests/doubles/container.h"
#include "tests/doubles/hip_double.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { note_metadata = 32, most_resident_threads = 2048 };

/* ---- kernels of a code object: the facts of runtime/compile/codeobject.h, and where the explicit arguments end */
static bool is(const char *s, size_t n, const char *word) { return s && strlen(word) == n && !memcmp(s, word, n); }

static unsigned argument_end(msgpack *p)
{
    unsigned offset = 0, size = 0;
    bool hidden = false;
    for (size_t pairs = msgpack_map(p); pairs && !p->bad; pairs--) {
        size_t n, length;
        const char *key = msgpack_string(p, &n);
        if (is(key, n, ".offset")) offset = (unsigned)msgpack_unsigned(p);
        else if (is(key, n, ".size")) size = (unsigned)msgpack_unsigned(p);
        else if (is(key, n, ".value_kind")) {
            const char *kind = msgpack_string(p, &length);
            hidden = kind && length > 6 && !memcmp(kind, "hidden", 6);
        } else msgpack_skip(p);
    }
    return hidden ? 0 : offset + size;
}

static void read_kernel(msgpack *p, module *m)
{
    const char *name = NULL;
    size_t name_length = 0;
    unsigned end = 0;
    for (size_t pairs = msgpack_map(p); pairs && !p->bad; pairs--) {
        size_t n;
        const char *key = msgpack_string(p, &n);
        if (is(key, n, ".name")) name = msgpack_string(p, &name_length);
        else if (is(key, n, ".args"))
            for (size_t count = msgpack_array(p); count && !p->bad; count--) {
                const unsigned one = argument_end(p);
                if (one > end) end = one;
            }
        else msgpack_skip(p);
    }
    for (kernel *k = m->kernels; k; k = k->next)
        if (is(name, name_length, k->name)) k->explicit_bytes = end;
}

static void read_metadata(module *m, const unsigned char *data, size_t size)
{
    msgpack p = {data, data + size, false};
    for (size_t pairs = msgpack_map(&p); pairs && !p.bad; pairs--) {
        size_t n;
        const char *key = msgpack_string(&p, &n);
        if (!is(key, n, "amdhsa.kernels")) {
            msgpack_skip(&p);
            continue;
        }
        for (size_t count = msgpack_array(&p); count && !p.bad; count--) read_kernel(&p, m);
    }
}

/* codeobject_read() has checked the file already. */
static void find_metadata(module *m, const unsigned char *file)
{
    Elf64_Ehdr head;
    memcpy(&head, file, sizeof head);
    for (int i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr segment;
        Elf64_Nhdr note;
        memcpy(&segment, file + head.e_phoff + (size_t)i * sizeof segment, sizeof segment);
        if (segment.p_type != PT_NOTE) continue;
        for (size_t at = 0; at + sizeof note <= segment.p_filesz;) {
            const unsigned char *p = file + segment.p_offset + at;
            memcpy(&note, p, sizeof note);
            const size_t body = sizeof note + ((note.n_namesz + 3u) & ~3u);
            if (note.n_type == note_metadata) read_metadata(m, p + body, note.n_descsz);
            at += body + ((note.n_descsz + 3u) & ~3u);
        }
    }
}

static bool add_kernels(module *m, const codeobject *object, const unsigned char *file)
{
    for (size_t i = 0; i < object->n_kernels; i++) {
        const kernel_facts *f = &object->kernels[i];
        kernel *k = calloc(1, sizeof *k);
        if (!k) return false;
        *k = (kernel){.module = m, .name = strdup(f->name), .explicit_bytes = f->kernarg_bytes, .kernarg_bytes = f->kernarg_bytes,
                      .most_threads = f->max_threads, .lds_bytes = f->lds_bytes, .wave = f->wave, .next = m->kernels};
        m->kernels = k;
    }
    find_metadata(m, file);
    return true;
}

/* ---- loading */
/* A file that lasts as long as the process, under a path that the emulator's process can open. */
static bool keep_file(module *m, const unsigned char *file, size_t size)
{
    m->file = memfd_create("hip-double-code", MFD_CLOEXEC);
    return m->file >= 0 && write(m->file, file, size) == (ssize_t)size;
}

static int give_code(module *m, const unsigned char *file, size_t size)
{
    host_log log = {0};
    if (emulating()) return keep_file(m, file, size) ? hip_success : hip_out_of_memory;
    if (!container_has_host(file)) {
        violate("this code object has no host code: it was not made by the double of HIPRTC, and there is no emulator");
        return hip_invalid_image;
    }
    container_head head;
    const unsigned char *at = file + container_round(size);
    memcpy(&head, at, sizeof head);
    if (memcmp(head.magic, container_magic, sizeof head.magic)) return hip_invalid_image;
    const host_status status = host_module_open(at + sizeof head, head.size, &m->host, &log);
    if (status != HOST_OK) violate("the host code cannot be loaded: %s", log.text ? log.text : host_status_name(status));
    host_log_free(&log);
    return status == HOST_OK ? hip_success : hip_invalid_image;
}

static void module_free(module *m)
{
    host_module_free(m->host);
    if (m->file >= 0) close(m->file);
    m->host = NULL;
    m->file = -1;
    m->device = NULL; /* the rest stays, so that stale handles are recognised */
}

static int load(device *d, const unsigned char *file, hip_module *out)
{
    const size_t size = container_elf_size(file);
    codeobject object;
    char why[codeobject_error_size];
    if (!size || !codeobject_read(file, size, &object, why)) return hip_invalid_image;
    const bool same = strcspn(d->arch, ":") == strlen(object.arch) && !strncmp(d->arch, object.arch, strlen(object.arch));
    module *m = same ? calloc(1, sizeof *m) : NULL;
    if (m) m->file = -1;
    int code = same ? m && add_kernels(m, &object, file) ? hip_success : hip_out_of_memory : hip_no_binary_for_gpu;
    codeobject_free(&object);
    if (!code) code = give_code(m, file, size);
    if (m) { /* also one that failed: its kernels point to it */
        m->next = double_state()->modules;
        double_state()->modules = m;
        if (!code) m->device = d;
    }
    *out = code ? NULL : m;
    return code;
}

EXPORT int hipModuleLoadData(hip_module *out, const void *file)
{
    int code = double_begin("hipModuleLoadData");
    if (!code) code = forbidden_in_capture("hipModuleLoadData");
    if (!code) code = load(current_device(), file, out);
    return double_end(code);
}

static module *module_of(const void *handle, const char *call)
{
    for (module *m = double_state()->modules; m; m = m->next) {
        if (m != handle) continue;
        if (m->device == current_device()) return m;
        violate("%s: a module that %s", call, m->device ? "is another device's" : "was unloaded");
        return NULL;
    }
    violate("%s: this is no module", call);
    return NULL;
}

EXPORT int hipModuleUnload(hip_module handle)
{
    int code = double_begin("hipModuleUnload");
    module *m = code ? NULL : module_of(handle, "hipModuleUnload");
    if (!code && !m) code = hip_invalid_handle;
    if (m && m->queued) violate("a module is unloaded while %d launches of it are queued", m->queued);
    if (m) {
        device_wait(m->device);
        module_free(m);
    }
    return double_end(code);
}

EXPORT int hipModuleGetFunction(hip_function *out, hip_module handle, const char *name)
{
    int code = double_begin("hipModuleGetFunction");
    const module *m = code ? NULL : module_of(handle, "hipModuleGetFunction");
    *out = NULL;
    for (kernel *k = m ? m->kernels : NULL; k; k = k->next)
        if (!strcmp(k->name, name)) *out = k;
    if (!code && !*out) code = m ? hip_not_found : hip_invalid_handle;
    return double_end(code);
}

kernel *kernel_of(void *handle)
{
    for (module *m = double_state()->modules; m; m = m->next)
        for (kernel *k = m->kernels; k; k = k->next)
            if (k == handle) return k;
    return NULL;
}

/* ---- launches */
/* Each word of the arguments that looks like a pointer must point into the device's memory. Two adjacent counts may look like a pointer to
 * host memory, so those are reported only in the address range of programs, their libraries and a sanitizer's heap: from 0x50 << 40 on or,
 * with LLVM before 17 and the first GCC 13, from 0x60 << 40. */
static bool check_words(const kernel *k, device *d, const unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uintptr_t word;
        memcpy(&word, bytes + at, sizeof word);
        const void *p = (const void *)word;
        const char *wrong = memory_is_device(p) ? memory_fault(d, p, 1) : NULL;
        if (wrong) violate("kernel %s: the pointer at byte %zu of its arguments is %s", k->name, at, wrong);
        else if (word >> 40 >= 0x50 && word >> 47 == 0 && memory_is_host(p))
            violate("kernel %s: the pointer at byte %zu of its arguments is the host's", k->name, at);
        else continue;
        return false;
    }
    return true;
}

/* Workgroups of a kernel that a unit holds. */
static unsigned resident_of(const kernel *k, const device *d, unsigned threads, unsigned dynamic_bytes)
{
    const unsigned lds = k->lds_bytes + dynamic_bytes, resident = most_resident_threads / threads;
    return lds && d->most_lds / lds < resident ? d->most_lds / lds : resident;
}

EXPORT int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hip_function function, int threads, size_t dynamic_bytes)
{
    int code = double_begin("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor");
    const kernel *k = code ? NULL : kernel_of(function);
    if (!code && (!k || threads < 1)) code = hip_invalid_handle;
    if (!code) *blocks = (int)resident_of(k, current_device(), (unsigned)threads, (unsigned)dynamic_bytes);
    return double_end(code);
}

static int check_size(const kernel *k, device *d, const op *o)
{
    const unsigned lds = k->lds_bytes + o->dynamic_bytes;
    if (!o->grid || !o->threads || (unsigned long)o->grid * o->threads > 0xffffffffu) {
        violate("kernel %s: a grid of %u x %u threads", k->name, o->grid, o->threads);
        return hip_invalid_configuration;
    }
    if (o->threads > k->most_threads) {
        violate("kernel %s: %u threads a workgroup; it was compiled for at most %u", k->name, o->threads, k->most_threads);
        return hip_invalid_configuration;
    }
    if (lds > d->most_lds) {
        violate("kernel %s: %u bytes of LDS; the device has %u", k->name, lds, d->most_lds);
        return hip_launch_out_of_resources;
    }
    if (!o->cooperative) return hip_success;
    return o->grid > resident_of(k, d, o->threads, o->dynamic_bytes) * d->units ? hip_cooperative_launch_too_large : hip_success;
}

static int check_arguments(const kernel *k, device *d, const void *bytes, size_t size)
{
    if ((uintptr_t)bytes % 16) violate("kernel %s: arguments at an address that is not a multiple of 16", k->name);
    else if (size != k->explicit_bytes)
        violate("kernel %s: %zu bytes of arguments; its metadata says %u", k->name, size, k->explicit_bytes);
    else if (check_words(k, d, bytes, size)) return hip_success;
    return hip_invalid_value;
}

static int check_kernel(const kernel *k, const device *d)
{
    if (!k) violate("a launch of what is no kernel");
    else if (!k->module->device) violate("kernel %s: launched after its module was unloaded", k->name);
    else if (k->module->device != d) violate("kernel %s: launched on another device than its module's", k->name);
    else return hip_success;
    return hip_invalid_handle;
}

/* A cooperative launch must begin after the previous one, whose workgroups may occupy the multiprocessors that it waits for. */
static int check_order(const kernel *k, device *d, stream *s)
{
    const bool in_order = s->ordered == d->cooperative_launches;
    s->ordered = ++d->cooperative_launches;
    if (!in_order) violate("kernel %s: a cooperative launch that may run beside that of another stream", k->name);
    return in_order ? hip_success : hip_invalid_value;
}

static int queue(op shape, void *function, void *handle, const void *bytes, size_t size)
{
    device *d = current_device();
    kernel *k = kernel_of(function);
    stream *s = stream_of(handle, d);
    int code = s ? check_kernel(k, d) : hip_invalid_handle;
    if (!code) code = check_size(k, d, &shape);
    if (!code) code = check_arguments(k, d, bytes, size);
    if (!code && shape.cooperative && !s->capture) code = check_order(k, d, s);
    if (code) return code;
    if (fault_due("lost")) return d->sticky = hip_no_device;
    op *o = malloc(sizeof *o);
    shape.kernel = k;
    shape.arguments = malloc(size + 1);
    shape.argument_bytes = size;
    if (!o || !shape.arguments) abort();
    *o = shape;
    memcpy(o->arguments, bytes, size);
    k->module->queued++;
    return stream_push(s, o);
}

EXPORT int hipModuleLaunchKernel(hip_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned shared, hip_stream handle, void **parameters, void **extra)
{
    int code = double_begin("hipModuleLaunchKernel");
    const op shape = {.kind = op_launch, .grid = grid_x, .threads = block_x, .dynamic_bytes = shared};
    const bool form = !parameters && extra && extra[0] == HIP_EXTRA_POINTER && extra[2] == HIP_EXTRA_SIZE && extra[4] == HIP_EXTRA_END;
    if (!code && (!form || grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1)) {
        violate("hipModuleLaunchKernel: %s", form ? "not of one dimension" : "neither NULL parameters nor the list pointer, size, end");
        code = hip_invalid_value;
    }
    if (!code) code = queue(shape, function, handle, extra[1], *(const size_t *)extra[3]);
    return double_end(code);
}

#ifndef HIP_DOUBLE_ROCM5
EXPORT int hipModuleLaunchCooperativeKernel(hip_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                            unsigned block_y, unsigned block_z, unsigned shared, hip_stream handle, void **parameters)
{
    int code = double_begin("hipModuleLaunchCooperativeKernel");
    const op shape = {.kind = op_launch, .grid = grid_x, .threads = block_x, .dynamic_bytes = shared, .cooperative = true};
    const kernel *k = code ? NULL : kernel_of(function);
    (void)grid_y, (void)grid_z, (void)block_y, (void)block_z;
    if (!code) code = queue(shape, function, handle, parameters[0], k ? k->explicit_bytes : 0);
    return double_end(code);
}
#endif
