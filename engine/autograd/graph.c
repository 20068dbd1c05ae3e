/* What is shown of a graph, and the graph as text. */
#include "autograd/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "autograd/tape.h"
#include "base/error.h"
#include "base/text.h"

const char *tn_node_operator(const tn_node *node)
{
    return node ? node->op->name[node->form] : "";
}

uint64_t tn_node_sequence(const tn_node *node)
{
    return node ? node->sequence : 0;
}

int tn_node_input_count(const tn_node *node)
{
    return node ? (int)node->n_edges : 0;
}

tn_node *tn_node_next(const tn_node *node, int i)
{
    return node && i >= 0 && (uint32_t)i < node->n_edges ? tni_edge_node(node->edges[i]) : NULL;
}

tn_tensor *tn_node_leaf(const tn_node *node, int i)
{
    return node && i >= 0 && (uint32_t)i < node->n_edges ? tni_edge_leaf(node->edges[i]) : NULL;
}

int tn_node_shape(const tn_node *node, const int64_t **sizes, tn_dtype *dtype)
{
    if (sizes)
        *sizes = node ? tni_node_sizes(node) : NULL;
    if (dtype)
        *dtype = node ? (tn_dtype)node->dtype : TN_DTYPE_NONE;
    return node ? node->ndim : 0;
}

int tn_node_saved_count(const tn_node *node)
{
    return node ? node->n_saved : 0;
}

tn_node_saving tn_node_saved(const tn_node *node, int i)
{
    if (!node || i < 0 || i >= node->n_saved)
        return (tn_node_saving){.input = -1};
    const tni_saved *saved = &tni_node_saved(node)[i];
    return (tn_node_saving){.tensor = saved->tensor,
                            .input = saved->what == TNI_SAVED_RESULT ? -1 : saved->what,
                            .version = saved->tensor ? saved->version : 0,
                            .version_now = saved->tensor ? saved->tensor->counter->version : 0};
}

bool tn_node_is_freed(const tn_node *node)
{
    return node && node->flags & TNI_NODE_RELEASED;
}

void tni_putf(tni_out *out, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    tni_put_text(out, text);
}

const char *tni_graph_id(const tni_graph *graph, size_t place, char buf[24])
{
    bool leaf = place >= graph->n_nodes;
    snprintf(buf, 24, "%c%zu", leaf ? 'x' : 'n', leaf ? place - graph->n_nodes : place);
    return buf;
}

/* Bytes of the character of UTF-8 that text begins with; 0: it is none. */
static int character(const unsigned char *text)
{
    const unsigned char c = text[0];
    int n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : (c & 0xF0) == 0xE0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    for (int i = 1; i < n; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    bool wrong = (c == 0xE0 && text[1] < 0xA0) || (c == 0xED && text[1] > 0x9F) || (c == 0xF0 && text[1] < 0x90) ||
                 (c == 0xF4 && text[1] > 0x8F) || (c == 0xEF && text[1] == 0xBF && text[2] > 0xBD);
    return wrong ? 0 : n;
}

static const char *cleaned(const char *text, char buf[TNI_GRAPH_NAME])
{
    size_t used = 0;
    while (*text && used + 8 < TNI_GRAPH_NAME) {
        int n = character((const unsigned char *)text);
        if (n > 1)
            memcpy(buf + used, text, (size_t)n);
        else
            buf[used] = n == 0 ? '?' : (unsigned char)*text < 32 || *text == 127 ? ' ' : *text;
        n = n ? n : 1;
        used += (size_t)n;
        text += n;
    }
    buf[used] = '\0';
    return buf;
}

const char *tni_graph_name(const tni_graph *graph, const tn_tensor *leaf, char buf[TNI_GRAPH_NAME])
{
    const tn_graph_options *options = graph->options;
    for (int i = 0; i < options->n_names; i++)
        if (options->named[i] == leaf)
            return options->names[i] ? cleaned(options->names[i], buf) : NULL;
    return NULL;
}

const char *tni_graph_node_name(const tni_node *node, char buf[TNI_GRAPH_NAME])
{
    char made[TNI_GRAPH_NAME];
    return cleaned(tni_node_name(node, made, sizeof made), buf);
}

static const char *shape_text(tni_shape shape, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%s ", tn_dtype_name(shape.dtype));
    tni_text_shape(buf + n, size - (size_t)n, shape.sizes, shape.ndim);
    return buf;
}

const char *tni_graph_shape(tni_edge edge, char *buf, size_t size)
{
    return shape_text(tni_edge_shape(edge), buf, size);
}

const char *tni_graph_parameter(const tni_node *node, uint32_t input)
{
    for (int p = 0; p < node->op->n_params; p++)
        if (node->op->params[p].input >= 0 && (uint32_t)node->op->params[p].input == input)
            return node->op->params[p].name;
    return NULL;
}

const char *tni_graph_saved_name(const tni_node *node, const tni_saved *saved, char buf[24])
{
    const char *name = saved->what == TNI_SAVED_RESULT ? "result" : tni_graph_parameter(node, saved->what);
    if (!name)
        snprintf(buf, 24, "tensor %d", saved->what);
    return name ? name : buf;
}

void tni_graph_saving(const tni_node *node, int i, char *buf, size_t size)
{
    char shape[140], made[24];
    const tni_saved *saved = &tni_node_saved(node)[i];
    const char *name = tni_graph_saved_name(node, saved, made);
    const tn_tensor *x = saved->tensor;
    if (!x) {
        snprintf(buf, size, node->flags & TNI_NODE_RELEASED ? "saved %s, given up by a walk" : "saves %s, a number",
                 name);
        return;
    }
    shape_text((tni_shape){x->sizes, x->ndim, (tn_dtype)x->dtype, TN_CPU}, shape, sizeof shape);
    int n = snprintf(buf, size, "saves %s %s version %u", name, shape, saved->version);
    if (saved->version != x->counter->version)
        snprintf(buf + n, size - (size_t)n, ", now %u: written since", x->counter->version);
}

bool tni_graph_has_grad(const tn_tensor *leaf)
{
    const tni_tape *tape = tni_tape_of(leaf);
    return tape && tape->grad;
}

const char *tni_graph_leaf_state(const tn_tensor *leaf)
{
    if (!tni_requires_grad(leaf))
        return "requires no gradient any more";
    return tni_graph_has_grad(leaf) ? "requires_grad, has grad" : "requires_grad, no grad yet";
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

void tni_graph_summary(const tni_graph *graph, char *buf, size_t size)
{
    size_t leaves = graph->n_leaves, saved = graph->n_saved;
    int n = snprintf(buf, size, "%zu node%s, %zu lea%s, %zu saved tensor%s (%zu bytes)", graph->n_nodes,
                     plural(graph->n_nodes), leaves, leaves == 1 ? "f" : "ves", saved, plural(saved),
                     graph->saved_bytes);
    if (graph->n_written)
        snprintf(buf + n, size - (size_t)n, ", %zu written since", graph->n_written);
}

/* The names of what is not shown, as often as they come, the first 12 of them. */
void tni_graph_rest(const tni_graph *graph, char *buf, size_t size)
{
    enum { NAMES = 12, LENGTH = 48 };
    char names[NAMES][LENGTH], made[TNI_GRAPH_NAME];
    size_t count[NAMES] = {0}, others = 0, rest = graph->n_nodes - graph->shown_nodes;
    size_t leaves = graph->n_leaves - graph->shown_leaves;
    int known = 0, n = 0;
    buf[0] = '\0';
    if (!rest && !leaves)
        return;
    for (size_t at = graph->shown_nodes; at < graph->n_nodes; at++) {
        const char *name = tni_graph_node_name(tni_edge_node(tni_graph_at(graph, at)), made);
        int i = 0;
        while (i < known && strncmp(names[i], name, LENGTH - 1) != 0)
            i++;
        if (i == known && known < NAMES)
            snprintf(names[known++], LENGTH, "%s", name);
        if (i < NAMES)
            count[i]++;
        else
            others++;
    }
    n = snprintf(buf, size, "%zu more node%s, %zu more lea%s", rest, plural(rest), leaves, leaves == 1 ? "f" : "ves");
    for (int i = 0; i < known && (size_t)n < size; i++)
        n += snprintf(buf + n, size - (size_t)n, "%s%zu %s", i ? ", " : ": ", count[i], names[i]);
    if (others && (size_t)n < size)
        snprintf(buf + n, size - (size_t)n, ", %zu others", others);
}

/* Codes of a terminal, by what they stand for. */
typedef enum ink { PLAIN, FADED, NODE, LEAF, WRONG } ink;

static void put_ink(tni_out *out, const tni_graph *graph, ink which)
{
    static const char *const codes[] = {"\033[0m", "\033[2m", "\033[1m", "\033[32m", "\033[1;31m"};
    if (graph->options->colour)
        tni_put_text(out, codes[which]);
}

enum { MOST_EDGES = 16 };

static void put_edges(tni_out *out, const tni_graph *graph, const tni_node *node)
{
    char id[24], buf[TNI_GRAPH_NAME];
    uint32_t shown = 0;
    for (uint32_t i = 0; i < node->n_edges && shown < MOST_EDGES; i++) {
        const char *parameter = tni_graph_parameter(node, i);
        if (!node->edges[i])
            continue;
        tni_putf(out, "%s%u%s%s -> ", shown++ ? ", " : "", i, parameter ? " " : "", parameter ? parameter : "");
        size_t place = tni_graph_place(graph, node->edges[i]);
        const tn_tensor *leaf = tni_edge_leaf(node->edges[i]);
        const char *name = leaf ? tni_graph_name(graph, leaf, buf) : NULL;
        put_ink(out, graph, leaf ? LEAF : NODE);
        tni_put_text(out, tni_graph_id(graph, place, id));
        if (name) {
            tni_put_text(out, " ");
            tni_put_text(out, name);
        }
        put_ink(out, graph, PLAIN);
    }
    uint32_t edges = 0;
    for (uint32_t i = 0; i < node->n_edges; i++)
        edges += node->edges[i] != 0;
    if (edges > shown)
        tni_putf(out, ", ... %u more", edges - shown);
}

/* Columns: ids, names, shapes of the nodes that are shown. */
typedef struct widths {
    int id, name, shape;
} widths;

static int widest(int width, const char *text)
{
    int n = (int)strlen(text);
    return n > width ? n : width;
}

static widths find_widths(const tni_graph *graph)
{
    widths w = {0, 4, 0};
    char buf[200];
    for (size_t at = 0; at < graph->n_nodes + graph->shown_leaves; at++) {
        if (!tni_graph_shows(graph, at))
            continue;
        tni_edge edge = tni_graph_at(graph, at);
        w.id = widest(w.id, tni_graph_id(graph, at, buf));
        w.shape = widest(w.shape, tni_graph_shape(edge, buf, sizeof buf));
        if (tni_edge_node(edge))
            w.name = widest(w.name, tni_graph_node_name(tni_edge_node(edge), buf));
    }
    w.shape = w.shape > 32 ? 32 : w.shape;
    return w;
}

static void put_id(tni_out *out, const tni_graph *graph, size_t place, const widths *w, ink which)
{
    char id[24];
    tni_graph_id(graph, place, id);
    put_ink(out, graph, which);
    tni_put_text(out, id);
    put_ink(out, graph, PLAIN);
    tni_put_spaces(out, w->id + 2 - (int)strlen(id));
}

static void put_node(tni_out *out, const tni_graph *graph, size_t place, const widths *w)
{
    char name[TNI_GRAPH_NAME], text[320];
    const tni_edge edge = tni_graph_at(graph, place);
    const tni_node *node = tni_edge_node(edge);
    put_id(out, graph, place, w, NODE);
    tni_putf(out, "%-*s  %-*s  ", w->name, tni_graph_node_name(node, name), w->shape,
             tni_graph_shape(edge, text, sizeof text));
    put_edges(out, graph, node);
    if (node->slices)
        tni_putf(out, "; writes a view with %s", node->op->name[node->form]);
    if (tni_graph_is_root(graph, place))
        tni_put_text(out, "  (root)");
    tni_put_newlines(out, 1);
    for (int i = 0; i < node->n_saved; i++) {
        const tni_saved *saved = &tni_node_saved(node)[i];
        tni_graph_saving(node, i, text, sizeof text);
        tni_put_spaces(out, w->id + 4);
        put_ink(out, graph, saved->tensor && saved->version != saved->tensor->counter->version ? WRONG : FADED);
        tni_put_text(out, text);
        put_ink(out, graph, PLAIN);
        tni_put_newlines(out, 1);
    }
}

void tni_graph_put_text(tni_out *out, const tni_graph *graph)
{
    char text[1024], shape[200], buf[TNI_GRAPH_NAME];
    const widths w = find_widths(graph);
    tni_graph_summary(graph, text, sizeof text);
    tni_put_text(out, text);
    tni_put_newlines(out, 1);
    for (size_t at = 0; at < graph->shown_nodes; at++)
        put_node(out, graph, at, &w);
    for (size_t at = graph->n_nodes; at < graph->n_nodes + graph->shown_leaves; at++) {
        const tn_tensor *leaf = tni_edge_leaf(tni_graph_at(graph, at));
        const char *name = tni_graph_name(graph, leaf, buf);
        put_id(out, graph, at, &w, LEAF);
        tni_putf(out, "%-*s  %-*s  %s", w.name, "leaf", w.shape,
                 tni_graph_shape(tni_graph_at(graph, at), shape, sizeof shape), tni_graph_leaf_state(leaf));
        if (name) {
            tni_put_text(out, ": ");
            tni_put_text(out, name);
        }
        tni_put_newlines(out, 1);
    }
    tni_graph_rest(graph, text, sizeof text);
    if (*text) {
        tni_put_text(out, "... ");
        tni_put_text(out, text);
        tni_put_newlines(out, 1);
    }
}
