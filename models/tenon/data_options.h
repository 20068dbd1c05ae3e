/* Which options each kind of data has, and what they are when they are not given. */
#ifndef TENON_DATA_OPTIONS_H
#define TENON_DATA_OPTIONS_H

#include <stdbool.h>

#include "option_rows.h"

/* Nothing is given. */
data_options data_not_given(void);

enum data_kind { DATA_MOONS, DATA_CIRCLES, DATA_BLOBS, DATA_FILE };

/* Names of what is made: DATA_FILE of them. */
extern const char *const data_words[];

/* By asked->name. */
enum data_kind data_kind(const data_options *asked);

/* Gives what was not given the values that `from` has; the seed is the next one, for other points, but for blobs, whose
 * centers it places. */
void data_take_over(data_options *asked, const data_options *from);

/* Gives what asked->name has and was not given its default; false if something was given that it does not have, which
 * is said in the name of the command. */
bool data_complete(const char *command, data_options *asked);

#endif
