/* The recorded graph of an expression's result, with the names that were given with =. */
#include <string.h>

#include "explain.h"

static int put(void *stream, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, stream) != bytes;
}

bool explain_write_graph(FILE *stream, const explain_expression *it, tn_graph_format format, bool colour)
{
    enum { LENGTH = 64 };
    char texts[EXPLAIN_NAMES][LENGTH];
    const char *names[EXPLAIN_NAMES];
    tn_tensor *named[EXPLAIN_NAMES], *result = it->step[it->last].result;
    for (int i = 0; i < it->n_names; i++) {
        const explain_name *name = &it->name[i];
        int length = name->length < LENGTH ? name->length : LENGTH - 1;
        memcpy(texts[i], it->text + name->begin, (size_t)length);
        texts[i][length] = '\0';
        names[i] = texts[i];
        named[i] = it->step[name->step].result;
    }
    const tn_graph_options options = {.named = named, .names = names, .n_names = it->n_names, .colour = colour};
    if (!tn_requires_grad(result)) {
        TN_FAIL(TN_ERROR_NO_GRAPH, "explain",
                "the result requires no gradient, so there is no graph: needed requires_grad=True where a tensor is "
                "made");
        return false;
    }
    return tn_graph_write_many(&result, 1, format, &options, put, stream) == TN_OK;
}
