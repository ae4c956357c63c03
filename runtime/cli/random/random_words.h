/* In: nothing. Out: words that a spec may take for its names and that are someone else's, too. */
#ifndef TFGEN_CLI_RANDOM_WORDS_H
#define TFGEN_CLI_RANDOM_WORDS_H

/* Each once, always in the same order: every identifier of the templates, C++'s keywords, what compilers and headers of CUDA and HIP
 * define. The list is made by the first call and kept for the life of the process. */
const char *const *random_words(int *count);
#endif
