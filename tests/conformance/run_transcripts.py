#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the transcripts over the socket channel; the grammar stands in README.md.

run_transcripts.py [--inproc PROGRAM] [FILE...]    each file in a private simulator of its own (davsim run)
run_transcripts.py --inside FILE [--journal OUT]   in the simulator that ASC_DEVICE names
run_transcripts.py --hold SOCKET DEVICE MIB        a process that holds memory, until its input ends

--inproc: test_transcripts_inproc plays them as well and writes its journals (ASC_JOURNALS); the bytes must be the
same. Frames are packed here, no header of the tree takes part (layout: davsock.h).
"""
import argparse
import os
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile

PREFILL = 0xA5
ANY, UNCHANGED = -1, -2


class Wrong(Exception):
    """A transcript that cannot be read, or that does not hold."""


# ---- transcripts ----


class Statement:
    def __init__(self, line, verb, rest):
        self.line, self.verb, self.rest = line, verb, rest
        self.words = [word for word in rest.split() if "=" not in word]
        self.named = dict(word.split("=", 1) for word in rest.split() if "=" in word)
        self.requests, self.replies = [], []
        self.result, self.parked = None, False


class Block:
    def __init__(self, address, length):
        self.address, self.length, self.cells, self.filler = address, length, [], None
        self.marks = []  # (offset, name, typed bytes)

    def fill_to(self, offset, fail):
        if len(self.cells) > offset or (len(self.cells) < offset and self.filler is None):
            fail(f"offset {offset} does not follow {len(self.cells)}")
        self.cells += [self.filler] * (offset - len(self.cells))
        self.filler = None

    def bytes(self, symbols):
        cells = list(self.cells)
        for offset, name, typed in self.marks:
            value = symbols(name, len(typed))
            cells[offset:offset + len(typed)] = list(value)
        return cells


class Transcript:
    FILLERS = {"...": 0, "???": ANY, "===": UNCHANGED}
    STEPS = ("open", "close", "call", "finish", "setup")

    def __init__(self, path):
        self.path, self.line = path, 0
        self.title, self.toml, self.only = "", "", ""
        self.holders, self.exchanges = {}, []
        self.block, in_toml = None, False
        with open(path, encoding="utf-8") as file:
            for text in file:
                self.line += 1
                text = text.rstrip("\n")
                if not text or text.startswith("#"):
                    continue
                if in_toml and text.startswith("| "):
                    self.toml += text[2:] + "\n"
                    continue
                in_toml = text == "toml"
                if self.block and text[:3] in self.FILLERS:
                    self.block.filler = self.FILLERS[text[:3]]
                elif self.block and re.match(r"[0-9a-f]{4}  ", text):
                    self.block.fill_to(int(text[:4], 16), self.fail)
                    self.take_bytes(text[6:])
                else:
                    verb, _, rest = text.partition(" ")
                    self.statement(verb, rest)
        self.end_block()

    def fail(self, what):
        raise Wrong(f"{self.path}:{self.line}: {what}")

    def end_block(self):
        if self.block:
            self.block.fill_to(self.block.length, self.fail)
        self.block = None

    def take_bytes(self, text):
        mark = None
        for word in text.split("  ", 1)[0].split():
            if self.block.filler is not None:
                self.fail("bytes behind a filler")
            if word.startswith("{"):
                name, _, word = word[1:].partition(":")
                mark = (len(self.block.cells), name, [])
            end = word.endswith("}")
            word = word.rstrip("}")
            if word in self.FILLERS:
                self.block.filler = self.FILLERS[word]
                continue
            value = {"??": ANY, "==": UNCHANGED}.get(word)
            if value is None:
                if not re.fullmatch("[0-9a-f]{2}", word):
                    self.fail(f"not a byte: '{word}'")
                value = int(word, 16)
            self.block.cells.append(value)
            if mark:
                mark[2].append(value)
            if end:
                self.block.marks.append(mark)
                mark = None
        if mark or len(self.block.cells) > self.block.length:
            self.fail("an open marker, or more bytes than the block has")

    def statement(self, verb, rest):
        self.end_block()
        if verb == "title":
            self.title = rest
        elif verb == "only":
            self.only = rest
        elif verb == "holder":
            made = Statement(self.line, verb, rest)
            self.holders[made.words[0]] = made.named
        elif verb in ("toml", "process"):
            pass  # over the socket the processes are what they are
        elif verb == "exchange":
            self.exchanges.append((rest, []))
        elif verb in self.STEPS:
            self.exchanges[-1][1].append(Statement(self.line, verb, rest))
        elif verb in ("request", "reply"):
            address, length = rest.split()
            self.block = Block(int(address[1:], 16), int(length))
            step = self.exchanges[-1][1][-1]
            (step.requests if verb == "request" else step.replies).append(self.block)
        elif verb == "result":
            step = self.exchanges[-1][1][-1]
            step.parked = rest == "parked"
            step.result = None if step.parked else int(rest, 0)
        else:
            self.fail(f"unknown statement '{verb}'")


# ---- the socket channel ----


class Server:
    MAGIC, PROTOCOL = 0x31535644, 1
    HELLO, WELCOME, OPEN, OPENED, CALL, REPLY = 1, 2, 3, 4, 6, 7
    IN, OUT = 1, 2
    NODES = {"manager": 0, "device": 1, "hdc": 2}

    def __init__(self, path):
        self.path, self.last, self.answers = path, 0, {}
        self.calls = self.connect()
        self.send(self.calls, self.HELLO, 0, struct.pack("<II", self.PROTOCOL, 0))
        kind, _, body = self.receive(self.calls)
        if kind != self.WELCOME:
            raise Wrong(f"the server does not welcome us: {body!r}")

    def connect(self):
        end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        end.settimeout(20)
        end.connect(self.path)
        return end

    def send(self, end, kind, call, body):
        end.send(struct.pack("<IHHII", self.MAGIC, kind, 0, len(body), call) + body)

    def receive(self, end):
        data, descriptors, _, _ = socket.recv_fds(end, 1 << 17, 1)
        if len(data) < 16:
            raise Wrong("the server has closed the connection")
        magic, kind, flags, length, call = struct.unpack_from("<IHHII", data)
        body = data[16:]
        if flags & 1:
            body = os.pread(descriptors[0], length, 0)
        for descriptor in descriptors:
            os.close(descriptor)
        if magic != self.MAGIC or len(body) != length:
            raise Wrong("a frame that is none")
        return kind, call, body

    def open(self, node, index=0):
        life = self.connect()
        self.send(life, self.OPEN, 0, struct.pack("<IIII", self.PROTOCOL, self.NODES[node], index, 0))
        kind, _, body = self.receive(life)
        if kind != self.OPENED:
            raise Wrong(f"the server refuses: {body!r}")
        result, _, token = struct.unpack("<iIQ", body)
        if result:
            raise Wrong(f"open: {result}")
        return life, token

    def start(self, file, number, argument, ranges, thread=1):
        """ranges: (address, length, direction, bytes); returns the call's id."""
        self.last += 1
        body = struct.pack("<QQIIII", file[1], argument, number, thread, len(ranges), 0)
        body += b"".join(struct.pack("<QII", *entry[:3]) for entry in ranges)
        body += b"".join(entry[3] for entry in ranges if entry[2] & self.IN)
        self.send(self.calls, self.CALL, self.last, body)
        return self.last

    def reply(self, call):
        """(result, [(address, bytes)]) of a call; waits for it."""
        while call not in self.answers:
            kind, which, body = self.receive(self.calls)
            if kind != self.REPLY:
                raise Wrong(f"frame {kind} instead of a reply")
            self.answers[which] = body
        body = self.answers.pop(call)
        result, count = struct.unpack_from("<iI", body)
        writes, place = [], 8 + 16 * count
        for index in range(count):
            address, length, _ = struct.unpack_from("<QII", body, 8 + 16 * index)
            writes.append((address, body[place:place + length]))
            place += length
        if place != len(body):
            raise Wrong("a reply that is longer or shorter than its writes")
        return result, writes

    def flat(self, file, number, content):
        """One struct as argument, given and taken back."""
        at = 0x10000
        result, writes = self.reply(self.start(file, number, at, [(at, len(content), 3, bytes(content))]))
        content = bytearray(content)
        for address, data in writes:
            content[address - at:address - at + len(data)] = data
        return result, bytes(content)


def davsim_number(number, size):
    return (3 << 30) | (size << 16) | (ord("S") << 8) | number


class Control:
    """The simulator's extension (davsim.h): setup that the driver's own interface has no way for."""

    def __init__(self, server):
        self.server = server
        self.file = server.open("manager")
        self.do(0x5A00, struct.pack("<256si", b"davsim", 0))

    def do(self, number, content):
        result, content = self.server.flat(self.file, number, content)
        if result:
            raise Wrong(f"davsim {number:#x}: {result} {content[-256:].split(bytes(1))[0].decode()}")
        return content

    def wall_ms(self):
        return struct.unpack_from("<Q", self.do(davsim_number(0, 232), struct.pack("<I228x", 232)), 24)[0]  # ds_info

    def alloc(self, device, mib):
        self.do(davsim_number(4, 32), struct.pack("<IIQIIQ", 32, device, mib << 20, 1, 0, 0))

    def rule(self, text):
        self.do(davsim_number(7, 528), struct.pack("<IIII256s256x", 528, 0, len(text), 0, text.encode()))

    def clear(self):
        self.do(davsim_number(8, 8), struct.pack("<II", 8, 0))

    def advance(self, ms):
        self.do(davsim_number(10, 40), struct.pack("<IIQQQII", 40, 1, ms * 1000000, 0, 0, 0, 0))

    def look(self):  # leaves no trace in the journal
        self.do(davsim_number(0, 232), struct.pack("<I228x", 232))

    def hotplug(self, verb, device):
        operation = {"remove": 0, "restore": 1, "lose": 2}[verb]
        self.do(davsim_number(11, 16), struct.pack("<IIII", 16, device, operation, 0))

    def journal(self):
        cursor, records = 0, b""
        while True:
            page = self.do(davsim_number(12, 1560), struct.pack("<IIQQ1536x", 1560, 0, cursor, 0))
            _, count, cursor, lost = struct.unpack_from("<IIQQ", page)
            if lost:
                raise Wrong(f"{lost} records of the journal are gone")
            records += page[24:24 + 48 * count]
            if not count:
                return records


# ---- playing ----


class Player:
    def __init__(self, transcript, path):
        self.transcript = transcript
        self.server = Server(path)
        self.control = Control(self.server)
        self.start_ms = self.control.wall_ms()
        self.path, self.files, self.waiting, self.problems = path, {}, {}, []
        self.holders = {}

    def symbol(self, name, length):
        if name == "pid":
            return struct.pack("<I", os.getpid())
        if name.startswith("ago"):
            return struct.pack("<I", self.start_ms // 1000 - int(name[3:]))
        if name.startswith("time"):
            return struct.pack("<Q", self.start_ms + int(name[4:] or 0))
        holder, _, form = name.partition(".")
        pid = self.holders[holder].pid
        value = f"{pid:08x}".encode() if form == "hex" else struct.pack("<I", pid)
        if len(value) != length:
            raise Wrong(f"marker {name} stands for {length} bytes")
        return value

    def hold(self, name, named):
        process = subprocess.Popen([sys.executable, __file__, "--hold", self.path, named.get("device", "0"),
                                    named.get("mib", "0")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.holders[name] = process
        if process.stdout.readline() != b"holding\n":
            raise Wrong(f"holder {name} holds nothing")

    def setup(self, step):
        verb = step.rest.split()[0]
        if verb == "rule":
            self.control.rule(step.rest[5:])
        elif verb == "clear":
            self.control.clear()
        elif verb == "advance":
            self.control.advance(int(step.words[1]))
        else:
            self.control.hotplug(verb, int(step.words[1]))

    def ranges(self, step):
        replies = {block.address: block for block in step.replies}
        shown = []
        for block in step.requests:
            content = bytes(block.bytes(self.symbol))
            direction = Server.IN | (Server.OUT if block.address in replies else 0)
            shown.append((block.address, len(content), direction, content))
        shown += [(block.address, block.length, Server.OUT, bytes([PREFILL]) * block.length)
                  for address, block in replies.items() if address not in {entry[0] for entry in shown}]
        return shown

    def problem(self, step, exchange, what):
        self.problems.append(f"{self.transcript.path}:{step.line}: exchange {exchange}: {what}")

    def check(self, step, exchange, ranges, result, writes):
        if result != step.result:
            self.problem(step, exchange, f"result {result}, not {step.result}")
        memory = {address: bytearray(content) for address, _, _, content in ranges}
        before = {address: bytes(content) for address, content in memory.items()}
        for address, data in writes:
            for base, content in memory.items():
                direction = next(entry[2] for entry in ranges if entry[0] == base)
                if base <= address and address + len(data) <= base + len(content) and direction & Server.OUT:
                    content[address - base:address - base + len(data)] = data
                    break
            else:
                self.problem(step, exchange, f"a write of {len(data)} bytes to {address:#x}, which was not shown")
        for block in step.replies:
            shown = 0
            for offset, want in enumerate(block.bytes(self.symbol)):
                found = memory[block.address][offset]
                want = found if want == ANY else before[block.address][offset] if want == UNCHANGED else want
                if found != want and shown < 8:
                    shown += 1
                    self.problem(step, exchange, f"byte {offset:#x} of the reply at {block.address:#x} is "
                                                 f"{found:02x}, not {want:02x}")

    def call(self, step, exchange):
        file, number, argument = step.words[:3]
        for _ in range(int(step.named.get("times", 1))):
            ranges = self.ranges(step)
            call = self.server.start(self.files[file], int(number, 16), int(argument[1:], 16), ranges,
                                     int(step.named.get("thread", 1)))
            if step.parked:
                self.control.look()  # the server answers in turn: what waits has no answer by now
                if call in self.server.answers:
                    self.problem(step, exchange, "it ended, although it should wait")
                self.waiting[step.words[4]] = (call, ranges)
            else:
                self.check(step, exchange, ranges, *self.server.reply(call))

    def play(self):
        for name, named in self.transcript.holders.items():
            self.hold(name, named)
        for title, steps in self.transcript.exchanges:
            for step in steps:
                if step.verb == "open":
                    node, *index = step.words[1:]
                    self.files[step.words[0]] = self.server.open(node, int(index[0]) if node == "device" else 0)
                elif step.verb == "close":
                    self.close(self.files.pop(step.words[0]))
                elif step.verb == "call":
                    self.call(step, title)
                elif step.verb == "finish":
                    call, ranges = self.waiting.pop(step.words[0])
                    self.check(step, title, ranges, *self.server.reply(call))
                else:
                    self.setup(step)
        return self.problems

    def close(self, file):
        """The server takes the end of the file as the release; it is over when it has closed its side."""
        life = file[0]
        life.shutdown(socket.SHUT_WR)
        select.select([life], [], [], 5)
        life.close()
        self.control.look()

    def end(self):
        for process in self.holders.values():
            process.stdin.close()
            process.wait(10)


def hold(path, device, mib):
    control = Control(Server(path))
    control.alloc(int(device), int(mib))
    print("holding", flush=True)
    sys.stdin.read()


def inside(path, journal):
    backend = os.environ["ASC_DEVICE"]
    if not backend.startswith("unix:"):
        raise Wrong(f"ASC_DEVICE={backend} is no socket")
    player = Player(Transcript(path), backend[5:])
    try:
        problems = player.play()
        if journal:
            with open(journal, "wb") as file:
                file.write(player.control.journal())
    finally:
        player.end()
    print("\n".join(problems))
    return 1 if problems else 0


def compare_journals(name, socket_journal, folder):
    with open(socket_journal, "rb") as file:
        ours = file.read()
    with open(os.path.join(folder, name + ".journal"), "rb") as file:
        theirs = file.read()
    if ours == theirs:
        return ""
    for index in range(0, max(len(ours), len(theirs)), 48):
        if ours[index:index + 48] != theirs[index:index + 48]:
            return (f"record {index // 48} of the journal: socket {ours[index:index + 48].hex(' ')}, in-process "
                    f"{theirs[index:index + 48].hex(' ')}")
    return "the journals differ"


def outside(files, journals):
    failed = played = 0
    for path in files:
        name = os.path.basename(path)[:-4]
        transcript = Transcript(path)
        if transcript.only:
            print(f"{name}: not over the socket ({transcript.only})")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            profile = os.path.join(scratch, name + ".toml")
            with open(profile, "w", encoding="utf-8") as file:
                file.write(transcript.toml)
            journal = os.path.join(scratch, "journal")
            done = subprocess.run(["davsim", "run", "--profile", profile, "--clock", "virtual", "--seed", "1",
                                   "--as-root", "--", sys.executable, __file__, "--inside", path, "--journal", journal],
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
            what = done.stdout.strip()
            bad = done.returncode != 0
            if not bad and journals:
                what = compare_journals(name, journal, journals)
                bad = bool(what)
        played += 1
        failed += bad
        print(f"{name}: {'FAILED' if bad else 'ok'}, {len(transcript.exchanges)} exchanges" +
              (f"\n{what}" if bad else ""))
    print(f"{played} transcripts played over the socket, {failed} failed")
    return 1 if failed or not played else 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--inside")
    options.add_argument("--journal")
    options.add_argument("--inproc")
    options.add_argument("--hold", nargs=3)
    options.add_argument("files", nargs="*")
    given = options.parse_args()
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "transcripts")
    try:
        if given.hold:
            hold(*given.hold)
            return 0
        if given.inside:
            return inside(given.inside, given.journal)
        files = given.files or sorted(os.path.join(here, name) for name in os.listdir(here) if name.endswith(".hex"))
        with tempfile.TemporaryDirectory() as journals:
            if given.inproc:
                subprocess.run([given.inproc, "--gtest_brief=1"], env={**os.environ, "ASC_JOURNALS": journals},
                               check=True, timeout=120)
            return outside(files, journals if given.inproc else None)
    except (Wrong, subprocess.SubprocessError) as wrong:
        print(wrong)
        return 1


if __name__ == "__main__":
    sys.exit(main())
