/* In: what printf takes. Out: the text, in memory that the caller frees. Refuses (NULL) what there is no memory for. */
#ifndef TFGEN_PRINTED_H
#define TFGEN_PRINTED_H

char *printed(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What an errno means, in English whatever the locale; static. (glibc has a function for it since 2.32, and we run on 2.28.) */
const char *error_in_english(int number);
#endif
