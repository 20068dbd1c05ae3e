/* A peer: peers.py in a process of its own, asked over two pipes, one line a question and one line an answer. */
#ifndef TENON_BENCH_PEER_H
#define TENON_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct peer peer;

/* Starts `python peers.py library threads`. NULL if the process can't be made. It says hello when asked for. */
peer *peer_start(const char *python, const char *script, const char *library, int threads);

/* Waits for the greeting. False (and the reason in peer_about) if interpreter or library is missing. */
bool peer_ready(peer *p);

/* Versions after the greeting, or why there is none. */
const char *peer_about(const peer *p);

/* Sends a line and waits for the answer, cut to size, without its end. False if the peer has died or does not answer
 * within its patience: it is then gone, and every later question fails at once. */
bool peer_ask(peer *p, const char *line, char *answer, size_t size);

/* Ends the process and frees the peer; NULL is ignored. */
void peer_stop(peer *p);

#endif
