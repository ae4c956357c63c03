/* The part of libclang's stable C interface (clang-c/Index.h, unchanged from clang 14 to 22) that tfgen calls, for use through dlopen:
 * neither building nor running needs libclang's headers. */
#ifndef TFGEN_LIBCLANG_ABI_H
#define TFGEN_LIBCLANG_ABI_H

typedef struct CXString {
    const void *data;
    unsigned flags;
} CXString;
typedef struct CXCursor {
    int kind, xdata;
    const void *data[3];
} CXCursor;
typedef struct CXType {
    int kind;
    void *data[2];
} CXType;
typedef struct CXSourceLocation {
    const void *data[2];
    unsigned position;
} CXSourceLocation;
typedef struct CXSourceRange {
    const void *data[2];
    unsigned begin, end;
} CXSourceRange;
typedef struct CXToken {
    unsigned words[4];
    void *data;
} CXToken;
struct CXUnsavedFile {
    const char *name, *text;
    unsigned long size;
};
typedef void *CXIndex, *CXTranslationUnit, *CXDiagnostic, *CXDiagnosticSet, *CXFile;

enum {
    CXCursor_Unexposed = 1, /* what extern "C" is before clang 17 */
    CXCursor_FunctionDecl = 8,
    CXCursor_VarDecl = 9,
    CXCursor_Method = 21,
    CXCursor_Namespace = 22,
    CXCursor_LinkageSpec = 23,
    CXCursor_DeclRefExpr = 101,
    CXCursor_MemberRefExpr = 102,
    CXCursor_CallExpr = 103,
    CXCursor_CUDAGlobalAttr = 414,
    CXCursor_CUDASharedAttr = 416,
    CXType_Record = 105,
    CXChildVisit_Break = 0,
    CXChildVisit_Continue = 1, /* has the same number in visits of fields (CXVisit_Continue) */
    CXChildVisit_Recurse = 2,
    CXToken_Punctuation = 0,
    CXToken_Keyword = 1,
    CXToken_Identifier = 2
};

typedef int cursor_visitor(CXCursor, CXCursor parent, void *);
typedef int field_visitor(CXCursor, void *);

/* FUNCTION(result, name without clang_, arguments) */
#define LIBCLANG_FUNCTIONS                                                                                             \
    FUNCTION(CXIndex, createIndex, (int exclude_pch, int display))                                                     \
    FUNCTION(int, parseTranslationUnit2,                                                                               \
             (CXIndex, const char *file, const char *const *options, int count, struct CXUnsavedFile *,                \
              unsigned files, unsigned flags, CXTranslationUnit *))                                                    \
    FUNCTION(CXString, getClangVersion, (void))                                                                        \
    FUNCTION(const char *, getCString, (CXString))                                                                     \
    FUNCTION(void, disposeString, (CXString))                                                                          \
    FUNCTION(CXDiagnosticSet, getDiagnosticSetFromTU, (CXTranslationUnit))                                             \
    FUNCTION(unsigned, getNumDiagnosticsInSet, (CXDiagnosticSet))                                                      \
    FUNCTION(CXDiagnostic, getDiagnosticInSet, (CXDiagnosticSet, unsigned))                                            \
    FUNCTION(CXDiagnosticSet, getChildDiagnostics, (CXDiagnostic))                                                     \
    FUNCTION(int, getDiagnosticSeverity, (CXDiagnostic))                                                               \
    FUNCTION(CXString, getDiagnosticSpelling, (CXDiagnostic))                                                          \
    FUNCTION(CXSourceLocation, getDiagnosticLocation, (CXDiagnostic))                                                  \
    FUNCTION(void, getPresumedLocation, (CXSourceLocation, CXString * file, unsigned *line, unsigned *column))         \
    FUNCTION(void, getExpansionLocation,                                                                               \
             (CXSourceLocation, CXFile *, unsigned *line, unsigned *column, unsigned *offset))                         \
    FUNCTION(CXCursor, getTranslationUnitCursor, (CXTranslationUnit))                                                  \
    FUNCTION(unsigned, visitChildren, (CXCursor, cursor_visitor *, void *))                                            \
    FUNCTION(CXString, getCursorSpelling, (CXCursor))                                                                  \
    FUNCTION(CXSourceLocation, getCursorLocation, (CXCursor))                                                          \
    FUNCTION(CXCursor, getCursorReferenced, (CXCursor))                                                                \
    FUNCTION(unsigned, equalCursors, (CXCursor, CXCursor))                                                             \
    FUNCTION(unsigned, hashCursor, (CXCursor))                                                                         \
    FUNCTION(CXType, getCursorType, (CXCursor))                                                                        \
    FUNCTION(CXType, getCanonicalType, (CXType))                                                                       \
    FUNCTION(CXString, getTypeSpelling, (CXType))                                                                      \
    FUNCTION(long long, Type_getSizeOf, (CXType))                                                                      \
    FUNCTION(long long, Type_getAlignOf, (CXType))                                                                     \
    FUNCTION(unsigned, Type_visitFields, (CXType, field_visitor *, void *))                                            \
    FUNCTION(long long, Cursor_getOffsetOfField, (CXCursor))                                                           \
    FUNCTION(int, Cursor_getNumArguments, (CXCursor))                                                                  \
    FUNCTION(CXCursor, Cursor_getArgument, (CXCursor, unsigned))                                                       \
    FUNCTION(CXFile, getFile, (CXTranslationUnit, const char *name))                                                   \
    FUNCTION(CXSourceLocation, getLocationForOffset, (CXTranslationUnit, CXFile, unsigned))                            \
    FUNCTION(CXSourceRange, getRange, (CXSourceLocation, CXSourceLocation))                                            \
    FUNCTION(void, tokenize, (CXTranslationUnit, CXSourceRange, CXToken **, unsigned *count))                          \
    FUNCTION(int, getTokenKind, (CXToken))                                                                             \
    FUNCTION(CXString, getTokenSpelling, (CXTranslationUnit, CXToken))                                                 \
    FUNCTION(CXSourceLocation, getTokenLocation, (CXTranslationUnit, CXToken))
#endif
