/* The derivatives of the whole table: every operator, sample, layout and dtype in both orders and both modes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "ops/operators.h"
#include "ops/sample.h"
#include "support/test.h"

/* Recorded as in PyTorch, which refuses to walk back through them; and what is not recorded at all. */
static const char *const walks_refuse[] = {"set_", "set_strided_", "floor_divide", "sgd_step_", "adam_step_",
                                           "rmsprop_step_"};

static bool may_lack(const char *name)
{
    for (size_t i = 0; i < sizeof walks_refuse / sizeof *walks_refuse; i++)
        if (strcmp(walks_refuse[i], name) == 0)
            return true;
    return false;
}

/* The samples of an operator that work. Some have no derivative to check: of integers, the mean of nothing. */
static int good_samples(int number)
{
    const char *text = tni_operators[number]->samples;
    int good = 0;
    for (tni_sample s; text && tni_sample_next(&text, &s);)
        good += !s.fails;
    return good;
}

static void every_derivative(void **state)
{
    (void)state;
    int of[4] = {0}, cases = 0, bad = 0;
    int64_t compared = 0, blocks = 0;
    for (int i = 0; i < tn_operator_count(); i++) {
        tn_operator_check check;
        if (tn_gradcheck_operator(i, NULL, &check))
            fail_msg("%s: %s", tn_operator_name(i), tn_error_message());
        if (i == 0) /* scopes have their room from then on */
            blocks = tn_get_memory_stats().live_blocks;
        if (tn_get_memory_stats().live_blocks != blocks) {
            printf("%s leaves %" PRId64 " blocks\n", check.name, tn_get_memory_stats().live_blocks - blocks);
            blocks = tn_get_memory_stats().live_blocks;
            bad++;
        }
        of[check.verdict]++;
        cases += check.cases;
        compared += check.compared;
        bool lacks = check.verdict == TN_OPERATOR_NO_DERIVATIVE && !may_lack(check.name);
        bad += lacks || check.verdict == TN_OPERATOR_FAULT;
        if (lacks)
            printf("%s has no derivative\n", check.name);
        if (check.verdict == TN_OPERATOR_FAULT)
            printf("%s %s (%s)\n  %s\n", check.form, check.sample, check.layout, check.message);
        if (check.verdict == TN_OPERATOR_OK && 3 * check.samples < good_samples(i)) {
            printf("%s: %d of %d samples were checked, its numbers may lie outside its domain\n", check.name,
                   check.samples, good_samples(i));
            bad++;
        }
        assert_int_equal(tn_error_code(), TN_OK);
    }
    printf("%d operators pass in %d cases, %" PRId64 " entries; %d are constant\n", of[TN_OPERATOR_OK], cases, compared,
           of[TN_OPERATOR_CONSTANT]);
    assert_int_equal(bad, 0);
}

static void arguments(void **state)
{
    (void)state;
    tn_operator_check check;
    assert_int_equal(tn_gradcheck_operator(0, NULL, NULL), TN_ERROR_NULL);
    tn_error_clear();
    assert_int_equal(tn_gradcheck_operator(-1, NULL, &check), TN_ERROR_ARGUMENT);
    tn_error_clear();
    assert_int_equal(tn_gradcheck_operator(tn_operator_count(), NULL, &check), TN_ERROR_ARGUMENT);
    assert_int_equal(tn_gradcheck_operator(0, NULL, &check),
                     TN_ERROR_ARGUMENT); /* nothing happens while it is pending */
    tn_error_clear();
}

TEST_MAIN(test(every_derivative), test(arguments))
