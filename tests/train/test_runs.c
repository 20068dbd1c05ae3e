/* Training runs recorded from PyTorch, replayed through the public headers: losses, rates, norms and parameters of 25
 * steps agree to 1e-10. tests/train/generate_runs.py says what the file holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

enum { STEPS = 25, SAMPLES = 12, VALUES = 64, WORD = 64, SCHEDULES = 4 };

static const double tolerance = 1e-10;
static const char *path = TENON_TEST_DATA "/runs_torch_2.15.txt";

typedef struct numbers {
    int64_t n;
    double value[VALUES];
} numbers;

typedef struct options {
    int64_t n;
    char name[8][WORD];
    double value[8];
} options;

typedef struct rate_of {
    char kind[WORD];
    numbers values;
} rate_of;

typedef struct run {
    char name[WORD], activation[WORD], optimizer[WORD], clip[WORD], loss[WORD];
    int64_t outputs;
    numbers weights, losses, rates, norms, first, last;
    options optimizer_options, group, loss_options;
    rate_of schedules[SCHEDULES];
    int n_schedules;
    bool sequence, two_groups;
    numbers milestones;
    double limit, p;
} run;

/* What a step needs. */
typedef struct job {
    const run *run;
    tn_module *net;
    tn_optimizer *optimizer;
    tn_schedule *schedules[SCHEDULES]; /* to be stepped */
    int n_schedules;
    tn_tensor *x, *y, *binary, *classes, *probabilities;
} job;

static FILE *file;
static char word[WORD];

static const char *next_word(void)
{
    while (fscanf(file, "%63s", word) == 1) {
        if (word[0] != '#')
            return word;
        for (int c = 0; c != '\n' && c != EOF;)
            c = fgetc(file);
    }
    fail_msg("the recorded file ends too soon");
    return word;
}

static double next_number(void)
{
    return strtod(next_word(), NULL);
}

static void read_numbers(numbers *to)
{
    to->n = (int64_t)next_number();
    assert_true(to->n <= VALUES);
    for (int64_t i = 0; i < to->n; i++)
        to->value[i] = next_number();
}

static void read_options(options *to)
{
    to->n = (int64_t)next_number();
    assert_true(to->n <= 8);
    for (int64_t i = 0; i < to->n; i++) {
        strcpy(to->name[i], next_word());
        to->value[i] = next_number();
    }
}

/* A word of a run that says how it is made, with what belongs to it; false: it is another one. */
static bool read_making(run *r)
{
    if (strcmp(word, "net") == 0) {
        r->outputs = (int64_t)next_number();
        strcpy(r->activation, next_word());
    } else if (strcmp(word, "optimizer") == 0) {
        strcpy(r->optimizer, next_word());
        read_options(&r->optimizer_options);
    } else if (strcmp(word, "group") == 0) {
        r->two_groups = true;
        read_options(&r->group);
    } else if (strcmp(word, "sequence") == 0) {
        r->sequence = true;
        read_numbers(&r->milestones);
    } else if (strcmp(word, "schedule") == 0 || strcmp(word, "part") == 0) {
        assert_true(r->n_schedules < SCHEDULES);
        rate_of *schedule = &r->schedules[r->n_schedules++];
        strcpy(schedule->kind, next_word());
        read_numbers(&schedule->values);
    } else if (strcmp(word, "clip") == 0) {
        strcpy(r->clip, next_word());
        r->limit = next_number();
        r->p = strcmp(r->clip, "norm") == 0 ? next_number() : 0;
    } else if (strcmp(word, "loss") == 0) {
        strcpy(r->loss, next_word());
        read_options(&r->loss_options);
    } else {
        return false;
    }
    return true;
}

/* A run from after its first word to the word after it, which is left in `word`. */
static void read_run(run *r)
{
    memset(r, 0, sizeof *r);
    strcpy(r->name, next_word());
    const struct {
        const char *name;
        numbers *to;
    } lists[] = {{"weights", &r->weights}, {"losses", &r->losses}, {"rates", &r->rates},
                 {"norms", &r->norms},     {"first", &r->first},   {"last", &r->last}};
    while (strcmp(next_word(), "run") != 0 && strcmp(word, "end") != 0) {
        size_t i = 0;
        if (read_making(r))
            continue;
        while (i < sizeof lists / sizeof *lists && strcmp(lists[i].name, word) != 0)
            i++;
        if (i == sizeof lists / sizeof *lists)
            fail_msg("%s: unknown word %s", r->name, word);
        read_numbers(lists[i].to);
    }
}

static double option(const options *o, const char *name, double otherwise)
{
    for (int64_t i = 0; i < o->n; i++)
        if (strcmp(o->name[i], name) == 0)
            return o->value[i];
    return otherwise;
}

/* The activation as an operator. */
static tn_tensor *activate(const char *name, tn_tensor *x)
{
    if (strcmp(name, "relu") == 0)
        return tn_relu(x);
    if (strcmp(name, "sigmoid") == 0)
        return tn_sigmoid(x);
    if (strcmp(name, "tanh") == 0)
        return tn_tanh(x);
    if (strcmp(name, "silu") == 0)
        return tn_silu(x);
    if (strncmp(name, "gelu", 4) == 0)
        return tn_gelu(x, strcmp(name, "gelu_tanh") == 0);
    if (strcmp(name, "softplus") == 0)
        return tn_softplus(x);
    if (strcmp(name, "softplus_beta") == 0)
        return tn_softplus_beta(x, 2, 1.5);
    if (strncmp(name, "leaky_relu", 10) == 0)
        return tn_leaky_relu(x, strcmp(name, "leaky_relu") == 0 ? 0.01 : 0.3);
    return strcmp(name, "softmax") == 0 ? tn_softmax(x, 1) : tn_log_softmax(x, 1);
}

static tn_tensor *net_forward(tn_module *self, tn_tensor *x, void *context)
{
    const run *r = context;
    return tn_forward(tn_child(self, 1), activate(r->activation, tn_forward(tn_child(self, 0), x)));
}

static tn_module *make_net(const run *r)
{
    static const tn_module_kind kind = {.name = "Net", .forward = net_forward};
    tn_module *net = tn_module_new(&kind, (void *)(uintptr_t)r);
    tn_register_module(net, "0", tn_linear_module(3, 4, true, TN_FLOAT64));
    tn_register_module(net, "1", tn_linear_module(4, r->outputs, true, TN_FLOAT64));
    int64_t at = 0;
    for (int64_t i = 0; i < tn_parameter_count(net); i++) {
        tn_tensor *p = tn_parameter(net, i);
        memcpy(tn_data_f64_mut(p), r->weights.value + at, (size_t)tn_numel(p) * sizeof(double));
        at += tn_numel(p);
    }
    assert_int_equal(at, r->weights.n);
    return net;
}

static void set_options(tn_optimizer *optimizer, int64_t group, const options *o)
{
    for (int64_t i = 0; i < o->n; i++)
        tn_optimizer_set(optimizer, group, o->name[i], o->value[i]);
}

/* Parameters first .. first + n - 1 of the net. */
static tn_list *some_parameters(const tn_module *net, int64_t first, int64_t n)
{
    return tn_list_of(tn_list_tensors(tn_parameters(net)) + first, n);
}

static tn_optimizer *make_optimizer(const run *r, const tn_module *net)
{
    const char *kind = r->optimizer;
    const options *o = &r->optimizer_options;
    const tn_list *parameters = r->two_groups ? some_parameters(net, 0, 2) : tn_parameters(net);
    tn_optimizer *made = strcmp(kind, "sgd") == 0       ? tn_sgd(parameters, NULL)
                         : strcmp(kind, "adam") == 0    ? tn_adam(parameters, NULL)
                         : strcmp(kind, "adamw") == 0   ? tn_adamw(parameters, NULL)
                         : strcmp(kind, "rmsprop") == 0 ? tn_rmsprop(parameters, NULL)
                                                        : NULL;
    if (strcmp(kind, "lbfgs") == 0)
        made = tn_lbfgs(parameters, &(tn_lbfgs_options){.max_iter = (int64_t)option(o, "max_iter", 0)});
    assert_string_equal(tn_optimizer_name(made), kind);
    set_options(made, -1, o);
    if (r->two_groups) {
        tn_optimizer_add_group(made, some_parameters(net, 2, 2));
        set_options(made, 1, &r->group);
    }
    return made;
}

static tn_schedule *make_schedule(const rate_of *rate, tn_optimizer *o)
{
    const char *kind = rate->kind;
    const double *v = rate->values.value;
    if (strcmp(kind, "step") == 0)
        return tn_step_lr(o, (int64_t)v[0], v[1]);
    if (strcmp(kind, "multi_step") == 0) {
        int64_t milestones[VALUES];
        for (int64_t i = 1; i < rate->values.n; i++)
            milestones[i - 1] = (int64_t)v[i];
        return tn_multi_step_lr(o, milestones, (int)rate->values.n - 1, v[0]);
    }
    if (strcmp(kind, "exponential") == 0)
        return tn_exponential_lr(o, v[0]);
    if (strcmp(kind, "cosine_annealing") == 0)
        return tn_cosine_annealing_lr(o, (int64_t)v[0], v[1]);
    if (strcmp(kind, "linear") == 0)
        return tn_linear_lr(o, v[0], v[1], (int64_t)v[2]);
    assert_string_equal(kind, "plateau");
    const tn_plateau_options plateau = {.max = v[0] != 0,
                                        .factor = v[1],
                                        .patience = v[2] == 0 ? -1 : (int64_t)v[2],
                                        .threshold = v[3],
                                        .threshold_abs = v[4] != 0,
                                        .cooldown = (int64_t)v[5],
                                        .min_lr = v[6],
                                        .eps = v[7]};
    return tn_reduce_lr_on_plateau(o, &plateau);
}

static void make_schedules(job *j)
{
    const run *r = j->run;
    int64_t milestones[VALUES];
    j->n_schedules = r->n_schedules;
    for (int i = 0; i < r->n_schedules; i++)
        j->schedules[i] = make_schedule(&r->schedules[i], j->optimizer);
    if (!r->sequence)
        return;
    for (int64_t i = 0; i < r->milestones.n; i++)
        milestones[i] = (int64_t)r->milestones.value[i];
    j->schedules[0] = tn_sequential_lr(j->schedules, j->n_schedules, milestones);
    j->n_schedules = 1;
}

static tn_tensor *scaled(tn_tensor *x, double by, double plus)
{
    return tn_add_scalar(tn_mul_scalar(x, tn_float(by)), tn_float(plus));
}

static tn_tensor *class_weights(void)
{
    const int64_t n = 3;
    return tn_from_array((const double[]){0.5, 1.5, 1.0}, &n, 1, TN_FLOAT64);
}

static tn_tensor *loss_of(const job *j, tn_tensor *out)
{
    const char *name = j->run->loss;
    const options *o = &j->run->loss_options;
    const tn_reduction reduction = (tn_reduction)option(o, "reduction", TN_MEAN);
    const bool weighted = option(o, "weighted", 0) != 0;
    const int64_t one = 1, ignored = (int64_t)option(o, "ignore_index", -100);
    if (strcmp(name, "mse") == 0)
        return tn_mse_loss(out, j->y, reduction);
    if (strcmp(name, "l1") == 0)
        return tn_l1_loss(out, j->y, reduction);
    if (strcmp(name, "smooth_l1") == 0)
        return tn_smooth_l1_loss(out, j->y, option(o, "beta", 1), reduction);
    if (strcmp(name, "huber") == 0)
        return tn_huber_loss(out, j->y, option(o, "delta", 1), reduction);
    if (strcmp(name, "bce") == 0)
        return tn_bce_loss_weighted(tn_sigmoid(out), j->binary, weighted ? scaled(j->binary, 1, 0.5) : NULL, reduction);
    if (strcmp(name, "bce_with_logits") == 0) {
        const double p = option(o, "pos_weight", 0);
        return tn_bce_with_logits_weighted(out, j->binary, weighted ? scaled(j->binary, 1, 0.5) : NULL,
                                           p != 0 ? tn_full(&one, 1, tn_float(p), TN_FLOAT64) : NULL, reduction);
    }
    if (strcmp(name, "kl_div") == 0) {
        const bool log_target = option(o, "log_target", 0) != 0;
        return tn_kl_div(tn_log_softmax(out, 1), log_target ? tn_log(j->probabilities) : j->probabilities, log_target,
                         reduction);
    }
    if (strcmp(name, "poisson_nll") == 0) {
        const bool log_input = option(o, "log_input", 1) != 0;
        return tn_poisson_nll_loss(log_input ? out : tn_softplus(out),
                                   tn_unsqueeze(tn_to(j->classes, TN_FLOAT64), 1), log_input,
                                   option(o, "full", 0) != 0, option(o, "eps", 1e-8), reduction);
    }
    tn_tensor *weight = weighted ? class_weights() : NULL;
    if (strcmp(name, "nll") == 0)
        return tn_nll_loss_weighted(tn_log_softmax(out, 1), j->classes, weight, ignored, reduction);
    const tn_cross_entropy_options with = {.reduction = reduction,
                                           .ignore = true,
                                           .ignore_index = ignored,
                                           .label_smoothing = option(o, "label_smoothing", 0),
                                           .weight = weight};
    return tn_cross_entropy_with(out, option(o, "probabilities", 0) != 0 ? j->probabilities : j->classes, &with);
}

static tn_tensor *closure(void *context)
{
    const job *j = context;
    tn_zero_grad(j->optimizer);
    tn_tensor *loss = loss_of(j, tn_forward(j->net, j->x));
    if (loss && tn_numel(loss) > 1) {
        const int64_t n = tn_numel(loss);
        tn_tensor *weights = tn_arange(tn_int(1), tn_int(n + 1), tn_int(1), TN_FLOAT64);
        loss = tn_sum(tn_mul(tn_reshape(loss, &n, 1), weights), NULL, 0, false, TN_DTYPE_NONE);
    }
    tn_backward(loss);
    return loss;
}

static void check(const run *r, const char *what, int step, double value, double wanted)
{
    if (!(fabs(value - wanted) <= tolerance * fmax(fabs(wanted), 1e-3)))
        fail_msg("%s: %s after step %d is %.17g, PyTorch has %.17g", r->name, what, step + 1, value, wanted);
}

static void check_parameters(const run *r, const tn_module *net, int step, const numbers *wanted)
{
    int64_t at = 0;
    for (int64_t i = 0; i < tn_parameter_count(net); i++) {
        const double *values = tn_data_f64(tn_parameter(net, i));
        for (int64_t k = 0; k < tn_numel(tn_parameter(net, i)); k++)
            check(r, "a parameter", step, values[k], wanted->value[at++]);
    }
    assert_int_equal(at, wanted->n);
}

static double one_step(job *j, int step)
{
    const run *r = j->run;
    if (r->clip[0] == '\0')
        return tn_step_closure(j->optimizer, closure, j);
    tn_scope scope = tn_scope_begin();
    const double loss = tn_item(closure(j));
    tn_list *parameters = tn_parameters(j->net);
    if (strcmp(r->clip, "norm") == 0)
        check(r, "the norm", step, tn_clip_grad_norm_(parameters, r->limit, r->p, true), r->norms.value[step]);
    else
        tn_clip_grad_value_(parameters, r->limit);
    tn_step(j->optimizer);
    tn_scope_end(scope);
    return loss;
}

static void step_schedules(job *j, int step, double loss)
{
    const run *r = j->run;
    for (int i = 0; i < j->n_schedules && !tn_error_code(); i++)
        if (strcmp(tn_schedule_name(j->schedules[i]), "plateau") == 0)
            tn_schedule_step_metric(j->schedules[i], loss);
        else
            tn_schedule_step(j->schedules[i]);
    if (tn_error_code())
        fail_msg("%s, step %d: %s", r->name, step + 1, tn_error_message());
    const int64_t groups = tn_optimizer_group_count(j->optimizer);
    for (int64_t g = 0; g < groups && j->n_schedules > 0; g++) {
        const double rate = tn_optimizer_get(j->optimizer, g, "lr"), wanted = r->rates.value[step * groups + g];
        if (rate != wanted)
            fail_msg("%s: the rate of group %d after step %d is %.17g, PyTorch has %.17g", r->name, (int)g, step + 1,
                     rate, wanted);
    }
}

static void replay(const run *r, job *j)
{
    tn_scope scope = tn_scope_begin();
    j->run = r;
    j->net = make_net(r);
    j->optimizer = make_optimizer(r, j->net);
    make_schedules(j);
    if (tn_error_code())
        fail_msg("%s: %s", r->name, tn_error_message());
    for (int step = 0; step < STEPS; step++) {
        const double loss = one_step(j, step);
        step_schedules(j, step, loss);
        check(r, "the loss", step, loss, r->losses.value[step]);
        if (step == 0)
            check_parameters(r, j->net, step, &r->first);
    }
    check_parameters(r, j->net, STEPS - 1, &r->last);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

static tn_tensor *read_data(const char *name, int64_t columns)
{
    numbers values;
    assert_string_equal(next_word(), name);
    read_numbers(&values);
    return tn_from_array(values.value, (int64_t[]){SAMPLES, columns}, 2, TN_FLOAT64);
}

static void recorded(void **state)
{
    static run r;
    job j;
    int runs = 0;
    (void)state;
    tn_scope scope = tn_scope_begin();
    file = fopen(path, "r");
    assert_non_null(file);
    j.x = read_data("x", 3);
    j.y = read_data("y", 1);
    j.binary = tn_to(tn_gt_scalar(j.y, tn_int(0)), TN_FLOAT64);
    j.classes = tn_select(tn_to(read_data("classes", 1), TN_INT64), 1, 0);
    j.probabilities = read_data("probabilities", 3);
    for (next_word(); strcmp(word, "run") == 0; runs++) {
        read_run(&r);
        replay(&r, &j);
    }
    fclose(file);
    assert_string_equal(word, "end");
    assert_true(runs > 0);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

/* usage: test_runs [FILE] */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {test(recorded)};
    path = argc > 1 ? argv[1] : path;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
