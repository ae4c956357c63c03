/* In: a file's path, at build time. Out: its bytes in the binary, put there by the assembler (.incbin). The compiler lists no such file as
 * a dependency, so the Makefile names them as prerequisites. */
#ifndef TFGEN_EMBED_H
#define TFGEN_EMBED_H

/* Declares `name` and `name_end`, the file's first byte and the NUL that follows its last. The symbols are global within the binary. */
#define EMBED_FILE(name, path)                                                                                                          \
    __asm__(".pushsection .rodata\n.balign 16\n.global " #name "\n.hidden " #name "\n" #name ":\n.incbin \"" path "\"\n.global " #name \
            "_end\n.hidden " #name "_end\n" #name "_end:\n.byte 0\n.popsection\n");                                                    \
    extern const char name[] __attribute__((visibility("hidden")));                                                                     \
    extern const char name##_end[] __attribute__((visibility("hidden")))
#endif
