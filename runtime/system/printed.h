/* In: what printf takes. Out: the text, in memory that the caller frees. Refuses (NULL) what there is no memory for. */
#ifndef TFGEN_PRINTED_H
#define TFGEN_PRINTED_H

char *printed(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif
