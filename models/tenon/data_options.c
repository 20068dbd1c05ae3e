/* See data_options.h. What is not set is not written to run.json, so a run on moons says nothing of CSV. */
#include "data_options.h"

#include <string.h>

#include "report.h"

/* Sets of kinds. */
enum { MOONS = 1 << DATA_MOONS, CIRCLES = 1 << DATA_CIRCLES, BLOBS = 1 << DATA_BLOBS, FILES = 1 << DATA_FILE };

const char *const data_words[] = {[DATA_MOONS] = "moons", [DATA_CIRCLES] = "circles", [DATA_BLOBS] = "blobs"};

enum data_kind data_kind(const data_options *asked)
{
    int i = 0;
    while (i < DATA_FILE && strcmp(data_words[i], asked->name) != 0)
        i++;
    return (enum data_kind)i;
}

data_options data_not_given(void)
{
    return (data_options){.seed = -1, .noise = -1, .factor = -1, .cluster_std = -1, .delimiter = -1, .header = -1};
}

void data_take_over(data_options *asked, const data_options *from)
{
    if (asked->seed < 0)
        asked->seed = from->seed + (data_kind(asked) != DATA_BLOBS); /* another seed puts their centers elsewhere */
    asked->samples = asked->samples ? asked->samples : from->samples;
    asked->noise = asked->noise < 0 ? from->noise : asked->noise;
    asked->factor = asked->factor < 0 ? from->factor : asked->factor;
    asked->centers = asked->centers ? asked->centers : from->centers;
    asked->features = asked->features ? asked->features : from->features;
    asked->cluster_std = asked->cluster_std < 0 ? from->cluster_std : asked->cluster_std;
}

/* The kinds of data that have an option. */
static int has_option(const char *option)
{
    static const struct {
        const char *option;
        int kinds;
    } some[] = {{"samples", MOONS | CIRCLES | BLOBS},
                {"noise", MOONS | CIRCLES},
                {"factor", CIRCLES},
                {"centers", BLOBS},
                {"features", BLOBS},
                {"cluster-std", BLOBS},
                {"seed", MOONS | CIRCLES | BLOBS | FILES}};
    enum { SOME = sizeof some / sizeof *some };
    for (int i = 0; i < SOME; i++)
        if (strcmp(some[i].option, option) == 0)
            return some[i].kinds;
    return FILES;
}

bool data_complete(const char *command, data_options *asked)
{
    option_row rows[DATA_ROWS];
    const int n = add_data_rows(rows, asked);
    const enum data_kind kind = data_kind(asked);
    char value[64];
    for (int i = 0; i < n; i++)
        if (!(has_option(rows[i].name) >> kind & 1) && rows[i].kind->format(&rows[i], value, sizeof value)) {
            report(command, "--%s: found it beside %s, which %s not have it", rows[i].name,
                   kind == DATA_FILE ? "a file" : asked->name, kind == DATA_FILE ? "does" : "do");
            report_hint(command);
            return false;
        }
    asked->seed = asked->seed < 0 ? 0 : asked->seed;
    if (kind == DATA_FILE)
        return true;
    asked->samples = asked->samples ? asked->samples : 1000;
    if (kind == DATA_BLOBS) {
        asked->centers = asked->centers ? asked->centers : 3;
        asked->features = asked->features ? asked->features : 2;
        asked->cluster_std = asked->cluster_std < 0 ? 1 : asked->cluster_std;
    } else {
        asked->noise = asked->noise < 0 ? 0.2 : asked->noise;
    }
    if (kind == DATA_CIRCLES)
        asked->factor = asked->factor < 0 ? 0.5 : asked->factor;
    return true;
}
