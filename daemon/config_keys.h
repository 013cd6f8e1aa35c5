/* daemon/config_keys.h - every key there is
 *
 * KEY(section, key, type, field, min, max, default, unit, help)
 *   type    number, pow2, flag (yes or no), text, folder, cpus, idle, level, listen:
 *           config_value.h
 *   field   of struct config, or of struct config_port in section "port"
 *   min max of a number; of a text: bytes
 */
KEY(daemon, workers, number, workers, 1, 64, "1", "threads",
    "packet threads, each with one receive and one send queue on every port")
KEY(daemon, cpus, cpus, cpus, 0, 1023, "auto", "CPU list",
    "CPU of each worker, such as 2-5,8; auto takes those of the ports' NUMA node, isolated "
    "ones first, one cache after the other, hyper-thread siblings and CPU 0 last")
KEY(daemon, idle, idle, idle, 0, 0, "adaptive", "",
    "what a worker does when nothing comes: spin, pause, sleep, or adaptive: one after the "
    "other")
KEY(daemon, idle_spin_us, number, idle_spin_us, 0, 1000000, "50", "microseconds",
    "adaptive: look again at once for this long")
KEY(daemon, idle_pause_us, number, idle_pause_us, 0, 1000000, "1000", "microseconds",
    "adaptive: then with pauses for this long; then sleep until a packet comes")
KEY(daemon, burst, number, burst, 4, 256, "64", "packets",
    "a turn of a worker takes at most so many from a port: more makes lookups cheaper, fewer keep "
    "more of the cache for others")
KEY(daemon, latency_sample, number, latency_sample, 0, 1000000, "64", "bursts",
    "one in so many is timed by the card's clock, from receive stamp to send completion; 0 = none")
KEY(daemon, punt_rate, number, punt_rate_pps, 0, 10000000, "1000", "packets a second",
    "packets handed to the kernel, for each port and reason; 0 = no limit")
KEY(daemon, punt_burst, number, punt_burst, 1, 1000000, "100", "packets",
    "that many more at once")
KEY(daemon, punt_ring, pow2, punt_ring, 16, 65536, "1024", "packets",
    "a worker's room for packets on their way to the kernel")
KEY(daemon, receive_bytes, auto_number, receive_bytes, 65536, 4294967295, "auto", "bytes",
    "memory for received packets, over all queues, at most: the smaller, the more of it stays in "
    "the cache; queues keep their depth and get smaller pieces, down to 256 bytes; auto is a "
    "quarter of the last-level cache")
KEY(daemon, max_nexthops, number, max_nexthops, 16, 1048576, "65536", "next hops",
    "different next hops at most")
KEY(daemon, control_socket, text, control_socket, 1, 107, "/run/mlx5fwd/control.sock",
    "bytes", "Unix socket for mlx5fwdctl")
KEY(daemon, control_group, text, control_group, 0, 31, "mlx5fwd", "bytes",
    "who may use the socket besides root; a group that does not exist means root only")
KEY(daemon, read_socket, text, read_socket, 1, 107, "/run/mlx5fwd/read.sock", "bytes",
    "Unix socket for those who may look and not change")
KEY(daemon, readers_group, text, readers_group, 0, 31, "", "bytes",
    "who may use that one besides root; empty, or a group that does not exist: there is no such "
    "socket, unless systemd made one")
KEY(daemon, state_directory, folder, state_directory, 0, 107, "auto", "",
    "where is kept what outlives the daemon: a path, or auto: $STATE_DIRECTORY, which systemd "
    "sets, else /var/lib/mlx5fwd; one daemon has it at a time")
KEY(daemon, keep_routes, flag, keep_routes, 0, 0, "no", "",
    "static routes are there again after a restart, also of the machine")
KEY(daemon, keep_counters, flag, keep_counters, 0, 0, "no", "",
    "counters go on where they were after a restart, and never go back; they begin at 0 where "
    "that cannot be known, after a loss of power")
KEY(daemon, metrics_listen, listen, metrics_listen, 0, 107, "127.0.0.1:15350", "",
    "where Prometheus finds /metrics: ADDRESS:PORT, [ADDRESS]:PORT, the path of a Unix socket, "
    "or off")
KEY(daemon, log_level, level, log_level, 0, 0, "info", "",
    "error, warning, notice, info or debug")
KEY(port, rx_packets, pow2, rx_packets, 64, 32768, "1024", "packets",
    "depth of each receive queue")
KEY(port, tx_packets, pow2, tx_packets, 64, 32768, "1024", "packets",
    "depth of each send queue")
KEY(port, striding, flag, striding, 0, 0, "yes", "",
    "many packets to a receive buffer, where the device can")
KEY(port, compression, compression, compression, 0, 0, "auto", "",
    "completions that tell many packets in a few bytes: off, basic, enhanced, or auto: the last "
    "of these that the device has")
KEY(port, prefetch, number, prefetch, 0, 64, "1", "packets",
    "when a completion is read, which frame is fetched into the cache: 0 none, 1 its own, N the "
    "one N - 1 packets behind it")
KEY(port, send, send, send, 0, 0, "auto", "",
    "how a frame leaves: by pointer, copied into the work entry, mixed: small ones copied; auto "
    "is mixed from copied_from_queues workers on, else by pointer")
KEY(port, copied_from_queues, number, copied_from_queues, 1, 1024, "4", "send queues",
    "send = auto: from so many workers on frames are copied")
KEY(port, copied_up_to_bytes, number, copied_up_to_bytes, 64, 924, "256", "bytes",
    "longest frame that is copied, if send is mixed or auto")
KEY(port, send_rings, auto_number, send_rings, 1, 8, "auto", "rings",
    "hardware rings of each worker where frames are copied; with more than one, bursts are dealt "
    "to them in turn, and frames of a flow may overtake each other; auto is 1")
KEY(port, doorbell, doorbell, doorbell, 0, 0, "auto", "",
    "how the register that starts a send is mapped: nc (non-cached), wc (write-combining), or "
    "auto: wc on Arm, else nc")
