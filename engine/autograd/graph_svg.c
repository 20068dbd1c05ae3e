/* The graph as a picture: leaves on top, arrows the way of the computation, roots at the bottom.
 *
 * All text is set in a monospaced face, of which a character is 0.61 of the size wide: boxes are as wide as their text
 * needs. */
#include <stdio.h>
#include <string.h>

#include "autograd/graph_layout.h"
#include "base/error.h"

/* Sizes of text, and of what is around it; MOST characters of a line. */
enum { NAME = 13, SMALL = 11, PAD = 10, LINE = 16, BETWEEN = 54, EDGE = 24, TOP = 48, MOST = 44, LINES = 12 };

/* What stands in a box. */
typedef struct box_text {
    char line[LINES][MOST * 4 + 4];
    bool wrong[LINES]; /* a saved tensor that was written since */
    int n;
} box_text;

/* Characters, not bytes, of UTF-8. */
static int count(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

/* Adds a line, cut after MOST characters. */
static void add_line(box_text *box, const char *text)
{
    char *line = box->line[box->n];
    int n = 0, bytes = 0;
    for (; text[bytes] && bytes < MOST * 4; bytes++) {
        n += ((unsigned char)text[bytes] & 0xC0) != 0x80;
        if (n > MOST)
            break;
        line[bytes] = text[bytes];
    }
    memcpy(line + bytes, n > MOST ? "..." : "", n > MOST ? 4 : 1);
    box->n++;
}

static void add_saved(box_text *box, const tni_node *node)
{
    char text[80], made[24];
    for (int i = 0; i < node->n_saved; i++) {
        const tni_saved *saved = &tni_node_saved(node)[i];
        const char *name = tni_graph_saved_name(node, saved, made);
        const tn_tensor *x = saved->tensor;
        if (box->n == LINES - 1 && i + 1 < node->n_saved) {
            snprintf(text, sizeof text, "... %d more", node->n_saved - i);
            add_line(box, text);
            return;
        }
        box->wrong[box->n] = x && saved->version != x->counter->version;
        if (!x)
            snprintf(text, sizeof text, "%s %s", name, node->flags & TNI_NODE_RELEASED ? "given up" : "is a number");
        else if (box->wrong[box->n])
            snprintf(text, sizeof text, "saved %s v%u, now v%u", name, saved->version, x->counter->version);
        else
            snprintf(text, sizeof text, "saves %s v%u", name, saved->version);
        add_line(box, text);
    }
}

/* Which place of the graph a box stands for; SIZE_MAX: the rest. */
static size_t place_of(const tni_graph *graph, uint32_t box)
{
    if (box < graph->shown_nodes)
        return box;
    size_t leaf = box - graph->shown_nodes;
    return leaf < graph->shown_leaves ? graph->n_nodes + leaf : SIZE_MAX;
}

static void find_text(const tni_graph *graph, uint32_t number, box_text *box)
{
    char text[200], id[24];
    const size_t place = place_of(graph, number);
    *box = (box_text){.n = 0};
    if (place == SIZE_MAX) {
        snprintf(text, sizeof text, "... %zu more nodes", graph->n_nodes - graph->shown_nodes);
        add_line(box, text);
        snprintf(text, sizeof text, "%zu more leaves", graph->n_leaves - graph->shown_leaves);
        add_line(box, text);
        return;
    }
    const tni_edge edge = tni_graph_at(graph, place);
    const tni_node *node = tni_edge_node(edge);
    const char *name = node ? tni_graph_node_name(node, text) : tni_graph_name(graph, tni_edge_leaf(edge), text);
    add_line(box, name ? name : tni_graph_id(graph, place, id));
    add_line(box, tni_graph_shape(edge, text, sizeof text));
    if (node)
        add_saved(box, node);
    else
        add_line(box, tni_graph_leaf_state(tni_edge_leaf(edge)));
}

static void measure(tni_layout *layout, const tni_graph *graph)
{
    box_text box;
    for (uint32_t i = 0; i < layout->n_boxes; i++) {
        int width = 40;
        find_text(graph, i, &box);
        for (int k = 0; k < box.n; k++) {
            int need = (count(box.line[k]) * (k ? SMALL : NAME + 1) * 61 + 99) / 100;
            width = need > width ? need : width;
        }
        layout->drawn[i].width = (width + 2 * PAD + 1) / 2 * 2;
        layout->drawn[i].height = box.n * LINE + PAD;
    }
}

static void put_escaped(tni_out *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("&<>\"'", *text))
            tni_putf(out, "&#%d;", *text);
        else
            tni_put(out, text, 1);
    }
}

/* The middle of a layer, from above, and how high it is. */
typedef struct rows {
    int middle, height;
} rows;

static rows row_of(const tni_layout *layout, int layer)
{
    rows row = {TOP, 0};
    for (int above = layout->n_layers - 1; above >= layer; above--) {
        int height = 0;
        for (uint32_t at = layout->begin[above]; at < layout->begin[above + 1]; at++) {
            int own = layout->drawn[layout->rows[at]].height;
            height = own > height ? own : height;
        }
        row.middle += above < layout->n_layers - 1 ? row.height / 2 + BETWEEN + height / 2 : height / 2;
        row.height = height / 2 * 2;
    }
    return row;
}

static void put_box(tni_out *out, const tni_graph *graph, const tni_layout *layout, uint32_t number, int y)
{
    static const char *const fills[] = {"#ffffff", "#d5ecdb", "#f3f4f6"};
    box_text box;
    const tni_drawn *drawn = &layout->drawn[number];
    const size_t place = place_of(graph, number);
    const int kind = place == SIZE_MAX ? 2 : place >= graph->n_nodes;
    const bool root = place != SIZE_MAX && tni_graph_is_root(graph, place);
    const int left = EDGE + drawn->x - drawn->width / 2, top = y - drawn->height / 2;
    find_text(graph, number, &box);
    tni_putf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" fill=\"%s\" stroke=\"%s\"%s/>\n", left,
             top, drawn->width, drawn->height, kind == 1 ? 12 : 3, fills[kind], kind == 1 ? "#2e7d4f" : "#2f6fab",
             root ? " stroke-width=\"3\"" : kind == 2 ? " stroke-dasharray=\"4 3\"" : "");
    for (int k = 0; k < box.n; k++) {
        tni_putf(out, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" fill=\"%s\"%s>", EDGE + drawn->x,
                 top + PAD / 2 + LINE * k + 12, k ? SMALL : NAME,
                 box.wrong[k] ? "#c0142c" : k < 2 ? "#1d2733" : "#68727d", k ? "" : " font-weight=\"bold\"");
        put_escaped(out, box.line[k]);
        tni_put_text(out, "</text>\n");
    }
}

/* How far from the left of its box an arrow arrives: arrows stand in the order of where they come from. */
static int port_of(const tni_layout *layout, uint32_t number)
{
    const tni_arrow *arrow = &layout->arrows[number];
    uint32_t first = number, end = number;
    int before = 1;
    while (first > 0 && layout->arrows[first - 1].to == arrow->to)
        first--;
    while (end < layout->n_arrows && layout->arrows[end].to == arrow->to)
        end++;
    for (uint32_t i = first; i < end; i++) {
        const tni_arrow *other = &layout->arrows[i];
        uint32_t a = other->n_gaps ? other->gaps + other->n_gaps - 1 : other->from;
        uint32_t b = arrow->n_gaps ? arrow->gaps + arrow->n_gaps - 1 : arrow->from;
        before += layout->drawn[a].x < layout->drawn[b].x || (layout->drawn[a].x == layout->drawn[b].x && i < number);
    }
    return layout->drawn[arrow->to].width * before / (int)(end - first + 1);
}

/* The numbers of the inputs that an arrow is: "0", or "0, 1" for a value that is taken twice. */
static void input_text(const tni_graph *graph, const tni_layout *layout, const tni_arrow *arrow, char *buf, size_t size)
{
    const tni_node *node = tni_edge_node(tni_graph_at(graph, arrow->to));
    size_t n = 0;
    buf[0] = '\0';
    for (uint32_t e = 0; e < node->n_edges && n + 8 < size; e++)
        if (node->edges[e] && tni_layout_box(layout, graph, tni_graph_place(graph, node->edges[e])) == arrow->from)
            n += (size_t)snprintf(buf + n, size - n, "%s%u", n ? ", " : "", e);
}

/* From the bottom of a box straight to the end of its layer, then in curves from layer to layer, through the gaps. */
static void put_arrow(tni_out *out, const tni_graph *graph, const tni_layout *layout, uint32_t number,
                      const rows *row)
{
    const tni_arrow *arrow = &layout->arrows[number];
    const tni_drawn *from = &layout->drawn[arrow->from], *to = &layout->drawn[arrow->to];
    char text[40];
    int y = row[from->layer].middle + from->height / 2;
    tni_putf(out, "<path d=\"M%d %dV%d", EDGE + from->x, y, row[from->layer].middle + row[from->layer].height / 2);
    y = row[from->layer].middle + row[from->layer].height / 2;
    int x = EDGE + from->x;
    for (uint32_t g = 0; g < arrow->n_gaps; g++) {
        const tni_drawn *gap = &layout->drawn[arrow->gaps + g];
        const int top = row[gap->layer].middle - row[gap->layer].height / 2, middle = (y + top) / 2;
        tni_putf(out, "C%d %d %d %d %d %dV%d", x, middle, EDGE + gap->x, middle, EDGE + gap->x, top,
                 top + row[gap->layer].height);
        x = EDGE + gap->x;
        y = top + row[gap->layer].height;
    }
    const int port = EDGE + to->x - to->width / 2 + port_of(layout, number);
    const int high = row[to->layer].middle - row[to->layer].height / 2, low = row[to->layer].middle - to->height / 2;
    tni_putf(out, "C%d %d %d %d %d %dV%d\" fill=\"none\" stroke=\"#68727d\" marker-end=\"url(#arrow)\"/>\n", x,
             (y + high) / 2, port, (y + high) / 2, port, high - 8, low - 1);
    input_text(graph, layout, arrow, text, sizeof text);
    tni_putf(out, "<text x=\"%d\" y=\"%d\" font-size=\"9\" fill=\"#68727d\" text-anchor=\"start\">%s</text>\n",
             port + 4, low - 9, text);
}

static void put_picture(tni_out *out, const tni_graph *graph, const tni_layout *layout, const rows *row)
{
    char text[256];
    tni_graph_summary(graph, text, sizeof text);
    const int least = 2 * EDGE + (int)strlen(text) * 8, width = layout->width + 2 * EDGE;
    tni_putf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"DejaVu Sans Mono, "
             "Menlo, Consolas, monospace\" text-anchor=\"middle\">\n",
             width > least ? width : least, row[0].middle + row[0].height / 2 + EDGE);
    tni_put_text(out, "<title>");
    put_escaped(out, text);
    tni_put_text(out, "</title>\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\"");
    tni_put_text(out, " markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\n<path d=\"M0 0L8 4L0 8z\" ");
    tni_put_text(out, " fill=\"#68727d\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    tni_putf(out, "<text x=\"%d\" y=\"26\" font-size=\"12\" fill=\"#68727d\" text-anchor=\"start\">", EDGE);
    put_escaped(out, text);
    tni_put_text(out, "</text>\n");
    for (uint32_t a = 0; a < layout->n_arrows; a++)
        put_arrow(out, graph, layout, a, row);
    for (uint32_t i = 0; i < layout->n_boxes; i++)
        put_box(out, graph, layout, i, row[layout->drawn[i].layer].middle);
    tni_put_text(out, "</svg>\n");
}

tn_status tni_graph_put_svg(tni_out *out, const tni_graph *graph)
{
    tni_layout layout;
    const bool rest = graph->shown_nodes < graph->n_nodes || graph->shown_leaves < graph->n_leaves;
    if (tni_layout_begin(&layout, graph, rest) == TN_OK) {
        rows row[TN_GRAPH_MAX_NODES + 2];
        measure(&layout, graph);
        tni_layout_run(&layout);
        for (int layer = 0; layer < layout.n_layers; layer++)
            row[layer] = row_of(&layout, layer);
        put_picture(out, graph, &layout, row);
    }
    tni_layout_end(&layout);
    return tni_pending();
}
