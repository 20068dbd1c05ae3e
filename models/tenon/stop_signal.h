/* Signals that end a run in good order: the step that runs is finished, and all is saved. */
#ifndef TENON_STOP_SIGNAL_H
#define TENON_STOP_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* The signal that came, or 0. tn_fit looks at it after each step. */
extern volatile sig_atomic_t stop_signal;

/* Notes INT, TERM and HUP from here on; a second one, a quarter of a second or more after the first, ends the process.
 * `tell` says so on standard error when the first one comes. A reader of standard output that goes away does not end
 * the run. */
void stop_signals_catch(bool tell);

#endif
