/*
 * closing.h: NNG sockets closed within bounds. A connection of NNG 1.5.2 that is closed between the
 * two halves of a message is never let go of, and nng_close would wait for it for ever.
 */
#ifndef TRANSPORT_GUARD_CLOSING_H
#define TRANSPORT_GUARD_CLOSING_H

#include <nng/nng.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Closes on a thread of its own. False when that has not come back within `wait_ms`: the thread
 * stays with the socket, and so must what the socket's callbacks look at. Not on a thread of NNG's.
 */
bool transport_socket_close(nng_socket socket, uint32_t wait_ms);

/*
 * nng_fini, for the end of a program; not when a close has not come back, which nng_fini would wait
 * for: then the end of the process has to do. No other call of NNG may be under way or come later.
 */
void transport_sockets_end(void);

#endif
