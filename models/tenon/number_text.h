/* Numbers as the shortest text that reads back to the same number of their dtype. */
#ifndef TENON_NUMBER_TEXT_H
#define TENON_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { NUMBER_SIZE = 40 };

/* single: the value is a float32, so "0.1" and not "0.10000000149011612". Returns buf. */
const char *number_text(char buf[NUMBER_SIZE], double value, bool single);

/* The same of a float64, "null" where JSON has no number. */
const char *number_json(char buf[NUMBER_SIZE], double value);

#endif
