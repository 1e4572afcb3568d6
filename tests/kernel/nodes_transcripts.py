#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the conformance transcripts on the real nodes, in the guest.

nodes_transcripts.py MODULE [FILE...]     each file on a module loaded anew; the reader, the setup and the checks are those
                                          of run_transcripts.py
nodes_transcripts.py --hold DEVICE MIB    a process that holds memory, until its input ends

A call is made by a helper process with memory at exactly the addresses of the transcript and nothing else there, so that a
driver that reads or writes elsewhere is found out. Helpers stand for the threads: a parked call keeps its own busy.
"""
import ctypes
import mmap
import os
import pickle
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "conformance"))
import run_transcripts as common  # noqa: E402

PAGE = 4096
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
MAP_FIXED_NOREPLACE = 0x100000
SURROUND = 0x3C  # what the pages hold around the memory that is shown


# ---- the helper: one call at a time ----


def pages_of(ranges):
    pages = set()
    for address, length, _, _ in ranges:
        pages.update(range(address // PAGE, (address + max(length, 1) - 1) // PAGE + 1))
    return sorted(pages)


def one_call(fd, number, argument, ranges):
    """(result, writes, complaint)"""
    pages = pages_of(ranges)
    for page in pages:
        got = libc.mmap(page * PAGE, PAGE, mmap.PROT_READ | mmap.PROT_WRITE,
                        mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
        if got != page * PAGE:
            return 0, [], f"no memory at {page * PAGE:#x}: {os.strerror(ctypes.get_errno())}"
        ctypes.memset(page * PAGE, SURROUND, PAGE)
    for address, length, direction, content in ranges:
        ctypes.memmove(address, content, length)
    # What is only read stands in pages that cannot be written, where no other memory shares them.
    for page in pages:
        touching = [r for r in ranges if r[0] < (page + 1) * PAGE and r[0] + r[1] > page * PAGE]
        if all(r[2] == common.Server.IN for r in touching):
            libc.mprotect(ctypes.c_void_p(page * PAGE), PAGE, mmap.PROT_READ)
    result = libc.ioctl(fd, ctypes.c_ulong(number), ctypes.c_void_p(argument))
    result = -ctypes.get_errno() if result < 0 else result
    complaint, shown = "", {}
    for address, length, direction, content in ranges:
        shown.update((address + i, None) for i in range(length))
    for page in pages:
        for offset, byte in enumerate(ctypes.string_at(page * PAGE, PAGE)):
            if byte != SURROUND and page * PAGE + offset not in shown:
                complaint = f"byte at {page * PAGE + offset:#x} was written, which was not shown"
                break
    writes = [(address, ctypes.string_at(address, length)) for address, length, direction, _ in ranges
              if direction & common.Server.OUT]
    for page in pages:
        libc.munmap(page * PAGE, PAGE)
    return result, writes, complaint


def take(end):
    """A message and its descriptor; None at the end."""
    head, descriptors, _, _ = socket.recv_fds(end, 8, 1)
    if len(head) < 8:
        return None, None
    left, data = struct.unpack("<Q", head)[0], b""
    while len(data) < left:
        part = end.recv(left - len(data))
        if not part:
            return None, None
        data += part
    return pickle.loads(data), descriptors[0] if descriptors else None


def give(end, message, descriptor=None):
    data = pickle.dumps(message)
    socket.send_fds(end, [struct.pack("<Q", len(data))], [] if descriptor is None else [descriptor])
    end.sendall(data)


def helper(end):
    while True:
        message, fd = take(end)
        if message is None:
            os._exit(0)
        answer = one_call(fd, *message)
        os.close(fd)
        give(end, answer)


# ---- the nodes, with the face of the socket's Server ----


class Nodes:
    NODES = {"manager": "/dev/davinci_manager", "device": "/dev/davinci", "hdc": "/dev/hisi_hdc"}

    def __init__(self, _path):
        self.helpers, self.busy, self.answers, self.last, self.complaints = {}, {}, {}, 0, []

    def open(self, node, index=0):
        path = self.NODES[node] + (str(index) if node == "device" else "")
        try:
            return os.open(path, (os.O_RDWR if node == "manager" else os.O_RDONLY) | os.O_CLOEXEC), 0
        except OSError as error:
            raise common.Wrong(f"open {path}: {error}") from error

    def free_helper(self, thread):
        for end in self.helpers.setdefault(thread, []):
            if end not in self.busy.values():
                return end
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            ours.close()
            os.closerange(theirs.fileno() + 1, 1024)
            for fd in range(3, theirs.fileno()):
                try:
                    os.close(fd)
                except OSError:
                    pass
            helper(theirs)
        theirs.close()
        self.helpers[thread].append(ours)
        return ours

    def start(self, file, number, argument, ranges, thread=1):
        end = self.free_helper(thread)
        self.last += 1
        self.busy[self.last] = end
        give(end, (number, argument, ranges), file[0])
        return self.last

    def collect(self, call):
        result, writes, complaint = take(self.busy.pop(call))[0]
        if complaint:
            self.complaints.append(complaint)
        self.answers[call] = (result, writes)

    def look(self):
        """Whatever has ended by now, after time enough for a call that does not wait."""
        for call in list(self.busy):
            if select.select([self.busy[call]], [], [], 0.3)[0]:
                self.collect(call)

    def reply(self, call):
        if call in self.busy:
            if not select.select([self.busy[call]], [], [], 30)[0]:
                raise common.Wrong("a call does not come back")
            self.collect(call)
        return self.answers.pop(call)

    def flat(self, file, number, content):
        at = 0x10000
        result, writes = self.reply(self.start(file, number, at, [(at, len(content), 3, bytes(content))], thread=0))
        return result, writes[0][1] if writes else content

    def end(self):
        for ends in self.helpers.values():
            for end in ends:
                end.close()


class NodePlayer(common.Player):
    def hold(self, name, named):
        process = subprocess.Popen([sys.executable, __file__, "--hold", named.get("device", "0"), named.get("mib", "0")],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.holders[name] = process
        if process.stdout.readline() != b"holding\n":
            raise common.Wrong(f"holder {name} holds nothing")

    def close(self, file):
        os.close(file[0])


class NodeControl(common.Control):
    def look(self):
        self.server.look()


def hold(device, mib):
    control = NodeControl(Nodes(None))
    control.alloc(int(device), int(mib))
    print("holding", flush=True)
    sys.stdin.read()


def play(module, path):
    """None, or what is wrong."""
    transcript = common.Transcript(path)
    old = re.search(r"""^\s*generation\s*=\s*"older\"""", transcript.toml, re.M) is not None
    with tempfile.TemporaryDirectory() as scratch:
        profile = os.path.join(scratch, "profile.toml")
        with open(profile, "w", encoding="utf-8") as file:
            file.write(transcript.toml)
        subprocess.run(["insmod", module, "devices=0", "slots=16", "clock=virtual", "seed=1", f"old_abi={int(old)}"],
                       check=True)
        try:
            done = subprocess.run(["davsim-load", "--profile", profile], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            if done.returncode:
                return done.stdout
            player = NodePlayer(transcript, None)
            try:
                problems = player.play() + player.server.complaints
            finally:
                player.end()
                player.server.end()
                for file in [*player.files.values(), player.control.file]:
                    os.close(file[0])
            return "\n".join(problems) or None
        finally:
            subprocess.run(["davsim-load", "--remove"], check=False)
            for _ in range(50):  # helpers end, their files with them
                if subprocess.run(["rmmod", "davinci_sim"], stderr=subprocess.DEVNULL).returncode == 0:
                    break
                select.select([], [], [], 0.1)


def main():
    if sys.argv[1:2] == ["--hold"]:
        hold(*sys.argv[2:4])
        return 0
    common.Server.IN  # the directions are the socket's
    common.Control, server = NodeControl, common.Server
    common.Server = Nodes
    Nodes.IN, Nodes.OUT = server.IN, server.OUT
    folder = os.path.join(here, "..", "conformance", "transcripts")
    files = sys.argv[2:] or sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".hex"))
    failed = played = exchanges = 0
    for path in files:
        name = os.path.basename(path)[:-4]
        transcript = common.Transcript(path)
        if transcript.only:
            print(f"{name}: not on nodes ({transcript.only})")
            continue
        try:
            wrong = play(sys.argv[1], path)
        except (common.Wrong, subprocess.SubprocessError, OSError) as error:
            wrong = str(error)
        played += 1
        exchanges += len(transcript.exchanges)
        failed += wrong is not None
        print(f"{name}: {'FAILED' if wrong else 'ok'}, {len(transcript.exchanges)} exchanges" + (f"\n{wrong}" if wrong else ""),
              flush=True)
    print(f"{played} transcripts, {exchanges} exchanges on nodes, {failed} failed")
    return 1 if failed or not played else 0


if __name__ == "__main__":
    sys.exit(main())
