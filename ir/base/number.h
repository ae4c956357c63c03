/* In: the text of a decimal number. Out: its value, the same in every locale. Refuses (false): anything but an optional
 * sign, digits with at most one point, and an optional exponent; hexadecimal, "inf" and "nan"; more than 64 characters;
 * values beyond a double. */
#ifndef TFGEN_NUMBER_H
#define TFGEN_NUMBER_H
#include <stdbool.h>

bool number_parse(const char *s, double *value);
bool integer_parse(const char *s, long long *value); /* an optional sign and digits */
#endif
