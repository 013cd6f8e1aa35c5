#!/usr/bin/env python3
"""schema.py SPEC FILE - is FILE an array of objects as mlx5fwdctl -j prints them?

A member is of the kind that is said here, always; "?" marks one that may be absent. Where a
spec is open, members that it does not name are of some kind, too: never null, never a fraction.
"""
import json
import sys


def text(v):
    return isinstance(v, str)


def flag(v):
    return isinstance(v, bool)


def number(v):
    return isinstance(v, int) and not isinstance(v, bool)


def count(v):
    return number(v) and 0 <= v < 2 ** 63


def words(v):
    return isinstance(v, list) and all(map(text, v))


def counts(v):
    return isinstance(v, dict) and v != {} and all(map(count, v.values()))


def any_kind(v):
    if isinstance(v, dict):
        return all(map(any_kind, v.values()))
    return text(v) or flag(v) or number(v) or words(v) or rows(v)


def rows(v):
    return isinstance(v, list) and all(isinstance(r, dict) and any_kind(r) for r in v)


def listed(spec):
    return lambda v: isinstance(v, list) and v != [] and all(wrong(r, spec) is None for r in v)


LEG = {"lladdr": text, "dev": text, "vlan?": count, "weight": count, "flags": words}
TARGET = {"type?": text, "lladdr?": text, "dev?": text, "vlan?": count, "nexthops?": listed(LEG)}
ROUTE = {"dst": text, **TARGET, "protocol": text, "metric": count, "flags": words}
SPECS = {
    "route": ROUTE,
    "route-get": {"dst": text, "prefix?": text, **TARGET, "protocol?": text, "metric?": count,
                  "flags?": words, "leg?": any_kind, "verdict": text, "reason?": text,
                  "queue?": count, "worker?": count, "queue_needs?": words},
    "nexthop": {"id": count, "type": text, "lladdr?": text, "dev?": text, "vlan?": count,
                "src_lladdr?": text, "mtu?": count, "flags?": words, "nexthops?": listed(LEG)},
    "summary": {"family": text, "routes": count, "static": count, "kernel": count,
                "lengths": any_kind},
    "sample": {"name": text, "labels": any_kind, "value": text},
    "restore": {k: count for k in ("added", "changed", "deleted", "unchanged")},
    "drop": {"port": text, "dropped": counts, "punted": counts},
    "port": {"port": text, "rdma_device": text, "pci": text, "address": text, "mtu": count,
             "up": flag, "carrier": flag, "queues": count, "state": text, "received": count,
             "forwarded": count, "punted": count, "dropped": count, "egress": count,
             "open": True},
    "worker": {"worker": count, "cpu": number, "received": count, "forwarded": count,
               "turns": count, "open": True},
    "top": {"status": any_kind, "ports": rows, "workers": rows, "drops": rows},
    "config": {"section": text, "port?": text, "key": text, "value": text, "default": text,
               "said": flag, "live": flag},
    "config-diff": {"section": text, "port?": text, "key?": text, "runs": text, "file": text,
                    "live": flag},
    "log": {"level": text},
    "status": {"state": text, "uptime_seconds": count, "ports": count, "workers": count,
               "open": True},
    "trace": {"number": count, "ts": text, "ts_ns": count, "clock": text, "port": text,
              "queue": count, "worker": count, "bytes": count, "eth_dst?": text, "eth_src?": text,
              "eth_type?": count, "family": count, "src?": text, "dst?": text, "proto?": text,
              "sport?": count, "dport?": count, "ttl?": count, "checked_by_card?": flag,
              "look": text, "route?": any_kind, "hop?": any_kind, "verdict": text,
              "reason?": text, "why?": text, "out?": text, "out_queue?": count,
              "out_bytes?": count, "lost": count, "captured": count, "data": text},
    "version": {"version": text, "protocol": count, "client_version": text},
}


def wrong(row, spec):
    """What is wrong with the object; None = nothing."""
    if not isinstance(row, dict):
        return f"{row} is no object"
    known = {k.rstrip("?"): k for k in spec if k != "open"}
    for key in row:
        fits = spec[known[key]] if key in known else any_kind if "open" in spec else None
        if fits is None:
            return f"{key}: unknown"
        if not fits(row[key]):
            return f"{key}: {row[key]}"
    missing = [k for k in known.values() if not k.endswith("?") and k not in row]
    return f"{missing[0]}: missing" if missing else None


def main():
    name, path = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        printed = json.load(f)
    if not isinstance(printed, list):
        sys.exit("not an array")
    for row in printed:
        why = wrong(row, SPECS[name])
        if why:
            sys.exit(f"{name}: {why}")


if __name__ == "__main__":
    main()
