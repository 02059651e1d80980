/*
 * proxy.h: a TCP proxy between an adapter and its server, in a thread of its own: for a network
 * that is slow, narrow, or gone. Every function may be called from any thread.
 */
#ifndef TESTS_SERVERS_PROXY_H
#define TESTS_SERVERS_PROXY_H

#include <stdbool.h>
#include <stdint.h>

struct proxy;

/* Listens on a port of the loopback that the system picks; NULL when it cannot. */
struct proxy *proxy_start(uint16_t target_port);
void proxy_stop(struct proxy *proxy);
uint16_t proxy_port(const struct proxy *proxy);
/* Each chunk towards the server arrives so much later. */
void proxy_delay(struct proxy *proxy, uint32_t delay_ms);
/* At most so many bytes a second towards the server, all connections together; 0: no bound. */
void proxy_throttle(struct proxy *proxy, uint32_t bytes_per_second);
/* Cuts all connections, and each new one at once, until it is mended. */
void proxy_cut(struct proxy *proxy, bool cut);
/* Cuts the connections that there are, once. */
void proxy_cut_once(struct proxy *proxy);
/* Takes connections and bytes and lets nothing through, until it is mended. */
void proxy_swallow(struct proxy *proxy, bool swallow);
/* Connections taken so far. */
uint32_t proxy_connections(const struct proxy *proxy);

#endif
