/* Out: words that are valid names in a spec but also used by templates, C++, compilers or headers. */
#ifndef TFGEN_CLI_RANDOM_WORDS_H
#define TFGEN_CLI_RANDOM_WORDS_H

/* Without duplicates, in a fixed order: every identifier of the templates, C++'s keywords, names that compilers and headers of CUDA and HIP
 * define. The first call makes the list, which lives as long as the process. */
const char *const *random_words(int *count);
#endif
