/* In: printf arguments. Out: the text, in memory that the caller frees; NULL without memory. */
#ifndef TFGEN_PRINTED_H
#define TFGEN_PRINTED_H

char *printed(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The meaning of an errno value, in English in every locale; a static string. (glibc has such a function since 2.32; tfgen supports
 * 2.28.) */
const char *error_in_english(int number);
#endif
