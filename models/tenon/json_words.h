/* One list of strings out of a JSON file: what run.json says of a run's options. */
#ifndef TENON_JSON_WORDS_H
#define TENON_JSON_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Reads text, one JSON object that is overwritten, and puts the strings of the list that it has under `key` into
 * words. Returns how many; -1 if text is no JSON object (at most 16 deep), there is no such list, or it has another
 * thing than strings, a zero character or more than `limit` of them. */
int json_words(char *text, size_t length, const char *key, char **words, int limit);

#endif
