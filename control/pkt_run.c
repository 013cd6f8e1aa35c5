/* control/pkt_run.c - the threads of mlx5pkt, and what they count
 *
 * Thread w serves queue w of every port. It looks for packets all the time and stops when
 * told, after what was under way. Counters have one writer; the main thread reads them.
 */

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/base/hot.h"
#include "../lib/base/time.h"
#include "../lib/ctl/row.h"
#include "../lib/m5/rx_hot.h"
#include "../lib/m5/tx_hot.h"
#include "../lib/place/pin.h"
#include "../lib/place/plan.h"
#include "mlx5pkt.h"

enum { BURST = 64, QUIET_MS = 20, LOOK_MS = 100 };

struct count {
	uint64_t received, bytes, sent, ring_full;
};

struct lane { /* a queue of a port */
	struct m5_rx *rx;
	struct m5_tx *tx; /* PKT_REFLECT */
	struct count n;
};

struct worker {
	struct lane lane[PKT_PORTS_MAX];
	unsigned n_lanes;
	bool reflects;
	int cpu; /* -1 = anywhere */
	pthread_t thread;
	bool started;
} CACHE_ALIGNED;

static struct worker workers[PKT_QUEUES_MAX];
static atomic_bool stop;

ALWAYS_INLINE void add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Destination and source are twelve bytes: eight and four. */
ALWAYS_INLINE void swap_macs(uint8_t *frame)
{
	uint64_t head;
	uint32_t tail, tail_in;

	static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "byte 0 is the lowest");
	memcpy(&head, frame, 8);
	memcpy(&tail, frame + 8, 4);
	tail_in = tail;
	tail = (uint32_t)(head >> 16);
	head = head >> 48 | (uint64_t)tail_in << 16 | head << 48;
	memcpy(frame, &head, 8);
	memcpy(frame + 8, &tail, 4);
}

/* Packets of a buffer come one after the other: it is told once. */
ALWAYS_INLINE void let_go(struct m5_rx *rx, const struct m5_pkt pkt[], uint32_t n)
{
	uint32_t i = 0, first;

	while (i < n) {
		first = i;
		do {
			i++;
		} while (i < n && pkt[i].wqe == pkt[first].wqe);
		m5_rx_put(rx, pkt[first].wqe, i - first);
	}
}

ALWAYS_INLINE void send_back(struct lane *l, const struct m5_pkt pkt[], uint32_t n)
{
	uint32_t sent;

	for (uint32_t i = 0; i < n; i++)
		swap_macs(pkt[i].data);
	sent = m5_tx_burst(l->tx, l->rx, pkt, n, false);
	m5_tx_ring(l->tx);
	add(&l->n.sent, sent);
	if (likely(sent == n))
		return;
	add(&l->n.ring_full, n - sent);
	let_go(l->rx, pkt + sent, n - sent);
}

ALWAYS_INLINE uint32_t serve(struct lane *l, bool reflects)
{
	struct m5_pkt pkt[BURST];
	uint64_t bytes = 0;
	uint32_t n;

	if (reflects)
		m5_tx_reap(l->tx);
	n = m5_rx_burst(l->rx, pkt, BURST);
	if (!n)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		bytes += pkt[i].len;
	add(&l->n.received, n);
	add(&l->n.bytes, bytes);
	if (reflects)
		send_back(l, pkt, n);
	else
		let_go(l->rx, pkt, n);
	return n;
}

/* @reflects is a constant: there are two of these. */
ALWAYS_INLINE uint32_t turn(struct worker *w, bool reflects)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < w->n_lanes; i++)
		n += serve(&w->lane[i], reflects);
	if (!n)
		time_relax();
	return n;
}

static uint32_t turn_once(struct worker *w)
{
	return w->reflects ? turn(w, true) : turn(w, false);
}

static bool under_way(const struct worker *w)
{
	for (unsigned i = 0; i < w->n_lanes; i++)
		if (w->lane[i].tx && !m5_tx_idle(w->lane[i].tx) &&
		    !m5_tx_failed(w->lane[i].tx))
			return true;
	return false;
}

/* No rule brings packets any more; what is in the queues is served. */
static void finish(struct worker *w)
{
	uint64_t now = time_ns(), end = now + NS_PER_S,
		 quiet = now + QUIET_MS * NS_PER_MS;

	for (; now < end && (now < quiet || under_way(w)); now = time_ns())
		if (turn_once(w))
			quiet = now + QUIET_MS * NS_PER_MS;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	if (w->reflects)
		while (!atomic_load_explicit(&stop, memory_order_relaxed))
			turn(w, true);
	else
		while (!atomic_load_explicit(&stop, memory_order_relaxed))
			turn(w, false);
	finish(w);
	return NULL;
}

/* ---- the main thread ---- */

/* A CPU for each thread: as wished, or as for the daemon's workers. */
static int plan_cpus(struct place_plan *plan, const struct pkt_port port[],
		     const struct pkt_options *o, struct err *err)
{
	struct place_limits limits;
	int r = place_limits_read(&limits);

	if (r < 0)
		return err_set(err, r, "CPUs of this process: %s", strerror(-r));
	place_topo_read(PLACE_SYSFS, &limits, &plan->topo);
	plan->n_workers = o->queues;
	plan->n_ports = o->n_ports;
	for (unsigned i = 0; i < o->n_ports; i++)
		plan->port[i] =
			(struct place_port){ port[i].netdev,
					     m5_dev_caps(port[i].dev)->numa_node };
	if (o->n_cpus)
		return place_plan_take(plan, o->cpu, o->n_cpus, err);
	place_plan_choose(plan);
	return 0;
}

static int start_worker(struct worker *w, unsigned index, int cpu, struct pkt_port port[],
			const struct pkt_options *o)
{
	int r;

	w->n_lanes = o->n_ports;
	w->reflects = o->command == PKT_REFLECT;
	w->cpu = cpu;
	for (unsigned i = 0; i < o->n_ports; i++)
		w->lane[i] = (struct lane){ .rx = m5_rxq_hot(port[i].rxq[index]),
					    .tx = w->reflects
							  ? m5_txq_hot(port[i].txq[index])
							  : NULL };
	r = place_thread_start(w->cpu, worker_main, w, &w->thread);
	w->started = !r;
	return r;
}

static struct count count_port(unsigned port, unsigned n_workers)
{
	struct count sum = { 0 };

	for (unsigned w = 0; w < n_workers; w++) {
		const struct count *n = &workers[w].lane[port].n;

		sum.received += __atomic_load_n(&n->received, __ATOMIC_RELAXED);
		sum.bytes += __atomic_load_n(&n->bytes, __ATOMIC_RELAXED);
		sum.sent += __atomic_load_n(&n->sent, __ATOMIC_RELAXED);
		sum.ring_full += __atomic_load_n(&n->ring_full, __ATOMIC_RELAXED);
	}
	return sum;
}

static uint64_t out_of_buffer(const struct pkt_port *p, unsigned n_queues)
{
	uint64_t sum = 0, n;

	for (unsigned q = 0; q < n_queues; q++)
		sum += m5_rxq_out_of_buffer(p->rxq[q], &n) ? 0 : n;
	return sum;
}

/* What came since the last row, by the second. */
static void say_rates(const struct pkt_port port[], const struct pkt_options *o,
		      struct count last[], double seconds,
		      void (*say)(const struct row *row))
{
	for (unsigned i = 0; i < o->n_ports; i++) {
		struct count now = count_port(i, o->queues);
		struct row *row = row_new();

		row_set_text(row, "port", port[i].netdev);
		row_set_count(
			row, "received_pps",
			(uint64_t)((double)(now.received - last[i].received) / seconds));
		row_set_count(
			row, "received_bps",
			(uint64_t)((double)(now.bytes - last[i].bytes) * 8 / seconds));
		if (o->command == PKT_REFLECT)
			row_set_count(
				row, "sent_pps",
				(uint64_t)((double)(now.sent - last[i].sent) / seconds));
		say(row);
		row_free(row);
		last[i] = now;
	}
}

static void say_sums(const struct pkt_port port[], const struct pkt_options *o,
		     void (*say)(const struct row *row))
{
	for (unsigned i = 0; i < o->n_ports; i++) {
		struct count n = count_port(i, o->queues);
		struct row *row = row_new();

		row_set_text(row, "port", port[i].netdev);
		row_set_count(row, "received", n.received);
		row_set_count(row, "received_bytes", n.bytes);
		if (o->command == PKT_REFLECT) {
			row_set_count(row, "sent", n.sent);
			row_set_count(row, "ring_full", n.ring_full);
		}
		row_set_count(row, "out_of_buffer", out_of_buffer(&port[i], o->queues));
		say(row);
		row_free(row);
	}
}

static int check_queues(const struct pkt_port port[], const struct pkt_options *o,
			struct err *err)
{
	for (unsigned w = 0; w < o->queues; w++) {
		for (unsigned i = 0; i < o->n_ports; i++) {
			const struct lane *l = &workers[w].lane[i];

			if (m5_rx_failed(l->rx))
				return err_set(err, -EIO,
					       "%s: receive queue %u: error completion "
					       "(syndrome 0x%02x: %s)",
					       port[i].netdev, w, l->rx->syndrome,
					       prm_syndrome_text(l->rx->syndrome));
			if (l->tx && m5_tx_failed(l->tx))
				return err_set(err, -EIO,
					       "%s: send queue %u: error completion "
					       "(syndrome 0x%02x: %s)",
					       port[i].netdev, w, l->tx->syndrome,
					       prm_syndrome_text(l->tx->syndrome));
		}
	}
	return 0;
}

/* Return: 0 = a signal came, or the time is over. */
static int watch(const struct pkt_port port[], const struct pkt_options *o,
		 const sigset_t *signals, void (*say)(const struct row *row),
		 struct err *err)
{
	const struct timespec look = { .tv_nsec = LOOK_MS * (long)NS_PER_MS };
	struct count last[PKT_PORTS_MAX] = { 0 };
	uint64_t began = time_ns(), row = began, now;
	int r = 0;

	while (!r && sigtimedwait(signals, NULL, &look) < 0) {
		now = time_ns();
		if (o->interval_s && now - row >= o->interval_s * NS_PER_S) {
			say_rates(port, o, last, (double)(now - row) / NS_PER_S, say);
			row = now;
		}
		if (o->seconds && now - began >= o->seconds * NS_PER_S)
			break;
		r = check_queues(port, o, err);
	}
	return r;
}

static void stop_workers(const struct pkt_options *o)
{
	atomic_store(&stop, true);
	for (unsigned w = 0; w < o->queues; w++)
		if (workers[w].started)
			pthread_join(workers[w].thread, NULL);
}

int pkt_run(struct pkt_port port[], const struct pkt_options *o,
	    void (*say)(const struct row *row), struct err *err)
{
	static struct place_plan plan;
	sigset_t signals;
	int r = plan_cpus(&plan, port, o, err);

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL); /* and in all threads to come */
	for (unsigned w = 0; w < o->queues && !r; w++)
		r = start_worker(&workers[w], w, plan.cpu[w], port, o);
	for (unsigned i = 0; i < o->n_ports && !r; i++)
		r = pkt_port_steer(&port[i], o, err);
	if (!r)
		r = watch(port, o, &signals, say, err);
	for (unsigned i = 0; i < o->n_ports; i++)
		pkt_port_release(&port[i]);
	stop_workers(o);
	if (!r)
		say_sums(port, o, say);
	return r;
}
