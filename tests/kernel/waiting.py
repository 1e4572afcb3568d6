#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls that wait and poll(2), on the real nodes, with the second client of tests/conformance.

waiting.py poll      tells when the URD file is readable: never, then after a fault, then no more once it was read
waiting.py hdc       a reply that a rule delays: tells whether poll waits for it and wakes
waiting.py event MS  waits for a fault for so long; prints its code, or the error's number
"""
import os
import select
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance"))
import independent_client as second  # noqa: E402


def read_event(client, milliseconds):
    """Code of the next event, or the negative error number."""
    query = struct.pack("<iiiIQIBBH32s", 1, milliseconds, -1, 0, 0, 0, 0, 0, 0, bytes(32))
    try:
        return struct.unpack_from("<I", client.urd(0x45, 0, 0, query, 344, own_number=True), 8)[0]
    except second.Failure as failure:
        return failure.result


def poll(client):
    watched = select.poll()
    watched.register(client.bound["URD"], select.POLLIN)
    print("first", read_event(client, 0), flush=True)  # makes this thread a subscriber
    print("idle", len(watched.poll(300)), flush=True)
    woken = watched.poll(30000)
    print("woken", woken == [(client.bound["URD"], select.POLLIN)], flush=True)
    print("event", hex(read_event(client, 0)), flush=True)
    print("after", len(watched.poll(0)), flush=True)


class Polling(second.NodeDriver):
    """Looks for a reply with poll before it asks for it."""

    def ioctl(self, node, number, argument, reached=()):
        if number == second.io("H", 0x16):
            watched = select.poll()
            watched.register(node, select.POLLIN)
            print("under way", len(watched.poll(0)), flush=True)
            start = time.monotonic()
            print("arrived", len(watched.poll(20000)), time.monotonic() - start < 15, flush=True)
        return super().ioctl(node, number, argument, reached)


def hdc():
    client = second.Client(Polling("/dev"))
    print("celsius", client.dmp(1, 0, 0x0003)[0], flush=True)


def main():
    if sys.argv[1] == "hdc":
        hdc()
        return
    client = second.Client(second.NodeDriver("/dev"))
    if sys.argv[1] == "poll":
        poll(client)
    else:
        print("waiting", flush=True)
        result = read_event(client, int(sys.argv[2]))
        print(result if result < 0 else hex(result), flush=True)


if __name__ == "__main__":
    main()
