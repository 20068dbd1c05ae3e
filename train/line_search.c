/* Strong Wolfe line search: first a bracket, doubling or more, then cubic interpolation within it.
 *
 *     enough decrease  f(t) <= f(0) + 1e-4 t f'(0)           flat enough  |f'(t)| <= -0.9 f'(0)
 *
 * Decides as torch.optim.LBFGS with line_search_fn "strong_wolfe", so that the same losses lead to the same steps.
 * Nocedal & Wright, Numerical Optimization, 2nd ed., algorithms 3.5 and 3.6. */
#include "line_search.h"

#include <math.h>

static const double decrease = 1e-4, flatness = 0.9;

/* A bracket in which no element changes by more is not cut further, whatever the optimizer's tolerance_change is. */
static const double narrowest = 1e-9;

/* The smaller and the larger of two as Python's min and max have them: the first one, unless the second is less, or
 * more. */
static double least(double a, double b)
{
    return b < a ? b : a;
}

static double most(double a, double b)
{
    return b > a ? b : a;
}

/* The minimum of the cubic through both places with their slopes, held within low .. high; their middle if it has
 * none. */
static double interpolate(const tni_place *a, const tni_place *b, double low, double high)
{
    const double d1 = a->slope + b->slope - 3 * (a->value - b->value) / (a->t - b->t);
    const double square = d1 * d1 - a->slope * b->slope;
    if (!(square >= 0))
        return (low + high) / 2;
    const double d2 = sqrt(square);
    const tni_place *near = a->t <= b->t ? a : b, *far = a->t <= b->t ? b : a;
    const double place =
        far->t - (far->t - near->t) * ((far->slope + d2 - d1) / (far->slope - near->slope + 2 * d2));
    return least(most(place, low), high);
}

typedef struct search {
    const tni_line *line;
    tni_place bracket[2];
    int64_t evaluations, rounds;
    int low; /* the end of the bracket with the smaller value */
    bool done;
} search;

static bool evaluate(search *s, double t, tni_place *place)
{
    s->evaluations++;
    return s->line->evaluate(s->line->context, t, place);
}

static bool is_too_high(const search *s, const tni_place *place)
{
    const tni_place *start = &s->line->start;
    return place->value > start->value + decrease * place->t * start->slope;
}

static bool is_flat(const search *s, const tni_place *place)
{
    return fabs(place->slope) <= -flatness * s->line->start.slope;
}

static void set_bracket(search *s, const tni_place *a, const tni_place *b)
{
    s->bracket[0] = *a;
    s->bracket[1] = *b;
}

/* Lengthens the step until a minimum lies between two places. */
static bool find_bracket(search *s, double t)
{
    tni_place before = s->line->start, now;
    if (!evaluate(s, t, &now))
        return false;
    for (; s->rounds < s->line->most; s->rounds++) {
        if (is_too_high(s, &now) || (s->rounds > 1 && now.value >= before.value)) {
            set_bracket(s, &before, &now);
            return true;
        }
        if (is_flat(s, &now)) {
            set_bracket(s, &now, &now);
            s->done = true;
            return true;
        }
        if (now.slope >= 0) {
            set_bracket(s, &before, &now);
            return true;
        }
        t = interpolate(&before, &now, now.t + 0.01 * (now.t - before.t), now.t * 10);
        before = now;
        if (!evaluate(s, t, &now))
            return false;
    }
    set_bracket(s, &s->line->start, &now);
    return true;
}

/* The next step length to try: that of the cubic, moved from the bracket's ends if it comes to lie there twice. */
static double next_length(const search *s, bool *stuck)
{
    const double a = s->bracket[0].t, b = s->bracket[1].t, low = least(a, b), high = most(a, b);
    double t = interpolate(&s->bracket[0], &s->bracket[1], low, high);
    const double margin = 0.1 * (high - low);
    if (!(least(high - t, t - low) < margin)) {
        *stuck = false;
        return t;
    }
    if (!*stuck && !(t >= high || t <= low)) {
        *stuck = true;
        return t;
    }
    *stuck = false;
    return fabs(t - high) < fabs(t - low) ? high - margin : low + margin;
}

static bool narrow(search *s)
{
    bool stuck = false;
    tni_place now;
    while (!s->done && s->rounds < s->line->most) {
        const tni_place *ends = s->bracket;
        if (fabs(ends[1].t - ends[0].t) * s->line->longest < narrowest)
            break;
        if (!evaluate(s, next_length(s, &stuck), &now))
            return false;
        s->rounds++;
        const int low = s->low, high = 1 - low;
        if (is_too_high(s, &now) || now.value >= ends[low].value) {
            s->bracket[high] = now;
            s->low = ends[0].value <= ends[1].value ? 0 : 1;
            continue;
        }
        if (is_flat(s, &now))
            s->done = true;
        else if (now.slope * (ends[high].t - ends[low].t) >= 0)
            s->bracket[high] = s->bracket[low];
        s->bracket[low] = now;
    }
    return true;
}

int64_t tni_strong_wolfe(const tni_line *line, double t, tni_place *best)
{
    search s = {.line = line};
    if (!find_bracket(&s, t))
        return -1;
    s.low = s.bracket[0].value <= s.bracket[1].value ? 0 : 1;
    if (!narrow(&s))
        return -1;
    *best = s.bracket[s.low];
    return s.evaluations;
}
