/*
 * threads.h: how many task threads NNG starts.
 *
 * NNG 1.5.2 starts two for each processor, and there is no setter. All of them work on one REP
 * socket, so they queue for its one lock, together with the shards that answer: with more of them
 * than can run at once most of their time goes into putting each other to sleep and waking each
 * other (measured on two processors: 15 us of processor time per request with four, 9 us with two).
 */
#ifndef TRANSPORT_FRONT_THREADS_H
#define TRANSPORT_FRONT_THREADS_H

#include <stdbool.h>

/* While it is on, an NNG that this thread initialises starts one thread per processor, 2 to 8. */
void front_threads_few(bool on);

#endif
