#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second client of the driver's interface that shares no header and no code with the tree.

Everything below was typed from driver-abi.md (section numbers stand beside each part); the socket's frames from
docs/socket-protocol.md. It asks the management queries and prints one JSON document, so that a test can hold its answers
against those of the real commands.

usage: independent_client.py unix:PATH | /dev        (the nodes themselves, by ioctl)
"""
import ctypes
import fcntl
import json
import os
import socket
import struct
import sys
import threading

# ---- user memory: buffers with addresses, as a C program has them ----


class Buffer:
    def __init__(self, content):
        self.raw = ctypes.create_string_buffer(bytes(content), len(content)) if len(content) else None
        self.size = len(content)

    @property
    def address(self):
        return ctypes.addressof(self.raw) if self.raw is not None else 0

    def get(self):
        return self.raw.raw if self.raw is not None else b""

    def put(self, offset, data):
        ctypes.memmove(self.address + offset, data, len(data))


IN, OUT = 1, 2

# ---- transports ----


class SocketDriver:
    """The framing of the socket channel: 16-byte head, life sockets, one call socket."""
    MAGIC, PROTOCOL = 0x31535644, 1
    HELLO, WELCOME, OPEN, OPENED, CALL, REPLY, REFUSED = 1, 2, 3, 4, 6, 7, 11
    NODES = {"davinci_manager": 0, "davinci": 1, "hisi_hdc": 2}

    def __init__(self, path):
        self.path = path
        self.calls = self.connect()
        self.send(self.calls, self.HELLO, 0, struct.pack("<II", self.PROTOCOL, 0))
        kind, _, body = self.receive(self.calls)
        if kind != self.WELCOME:
            raise OSError(f"refused: {body!r}")
        self.last_id = 0

    def connect(self):
        end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        end.settimeout(20)
        end.connect(self.path)
        return end

    def send(self, end, kind, call_id, body):
        end.send(struct.pack("<IHHII", self.MAGIC, kind, 0, len(body), call_id) + body)

    def receive(self, end):
        data, descriptors, _, _ = socket.recv_fds(end, 1 << 17, 1)
        magic, kind, flags, length, call_id = struct.unpack_from("<IHHII", data)
        assert magic == self.MAGIC
        body = data[16:]
        if flags & 1:
            body = os.pread(descriptors[0], length, 0)
        for descriptor in descriptors:
            os.close(descriptor)
        assert len(body) == length, (len(body), length)
        return kind, call_id, body

    def open(self, name, index=0):
        life = self.connect()
        self.send(life, self.OPEN, 0, struct.pack("<IIII", self.PROTOCOL, self.NODES[name], index, 0))
        kind, _, body = self.receive(life)
        if kind != self.OPENED:
            raise OSError(f"refused: {body!r}")
        result, _, token = struct.unpack("<iIQ", body)
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        return life, token

    def ioctl(self, node, number, argument, reached=()):
        """reached: (buffer, direction) of everything the argument points at."""
        ranges = [(argument, IN | OUT), *reached]
        self.last_id += 1
        body = struct.pack("<QQIIII", node[1], argument.address, number, threading.get_native_id(), len(ranges), 0)
        for buffer, direction in ranges:
            body += struct.pack("<QII", buffer.address, buffer.size, direction)
        for buffer, direction in ranges:
            if direction & IN:
                body += buffer.get()
        self.send(self.calls, self.CALL, self.last_id, body)
        while True:
            kind, call_id, body = self.receive(self.calls)
            if kind == self.REPLY and call_id == self.last_id:
                break
        result, writes = struct.unpack_from("<iI", body)
        place = 8 + 16 * writes
        for index in range(writes):
            address, length, _ = struct.unpack_from("<QII", body, 8 + 16 * index)
            for buffer, direction in ranges:
                if direction & OUT and buffer.address <= address and address + length <= buffer.address + buffer.size:
                    buffer.put(address - buffer.address, body[place:place + length])
                    break
            else:
                raise OSError(f"a write outside of what was shown: {address:#x}+{length}")
            place += length
        return result


class NodeDriver:
    """The nodes themselves."""

    def __init__(self, folder):
        self.folder = folder

    def open(self, name, index=0):
        path = os.path.join(self.folder, name + (str(index) if name == "davinci" else ""))
        return os.open(path, os.O_RDWR | os.O_CLOEXEC if name == "davinci_manager" else os.O_RDONLY | os.O_CLOEXEC)

    def ioctl(self, node, number, argument, reached=()):
        library = ctypes.CDLL(None, use_errno=True)
        result = library.ioctl(node, ctypes.c_ulong(number), ctypes.c_void_p(argument.address))
        return -ctypes.get_errno() if result < 0 else result


class Failure(Exception):
    def __init__(self, result):
        super().__init__(f"result {result}")
        self.result = result


def io(magic, number):
    return (ord(magic) << 8) | number


class Client:
    def __init__(self, driver):
        self.driver = driver
        self.bound = {}
        for module in ("uda", "DEVMNG", "URD"):  # section 3
            node = driver.open("davinci_manager")
            argument = Buffer(struct.pack("<256si", module.encode(), 0))
            self.check(driver.ioctl(node, io("Z", 0), argument))
            self.bound[module] = node

    @staticmethod
    def check(result):
        if result != 0:
            raise Failure(result)

    def flat(self, module, number, content):
        argument = Buffer(content)
        self.check(self.driver.ioctl(self.bound[module], number, argument))
        return argument.get()

    # section 5
    def devices(self):
        information = struct.unpack("<5I", self.flat("uda", 0x80145500, bytes(20)))
        records = Buffer(bytes(8 * information[2]))
        argument = Buffer(struct.pack("<IIQ", 0, information[2], records.address))
        self.check(self.driver.ioctl(self.bound["uda"], 0xC0105502, argument, [(records, OUT)]))
        found = []
        for flags, _, physical, logical, unique in struct.iter_unpack("<BBHHH", records.get()):
            if flags & 1:
                found.append({"logical": logical, "physical": physical, "unique": unique})
        return found

    # section 6
    def urd(self, main, sub, device, given, room, own_number=False, reached=()):
        data, answer = Buffer(given), Buffer(bytes(room))
        envelope = Buffer(struct.pack("<IIIIQIIQIIQII", device, 0, main, sub, 0, 0, 0, data.address, data.size, 0,
                                      answer.address, answer.size, 0))
        number = (main << 8) + sub if own_number else io("V", 1)
        more = [(buffer, direction) for buffer, direction in ((data, IN), (answer, OUT)) if buffer.size]
        self.check(self.driver.ioctl(self.bound["URD"], number, envelope, [*more, *reached]))
        return answer.get()

    # section 7
    def udis(self, device, module, name, expected=None):
        room = Buffer(bytes(208))
        given = struct.pack("<I16sIQ", module, name.encode(), 208, room.address)
        answer = self.urd(0x45, 56, device, given, 16, reached=[(room, OUT)])
        length = struct.unpack("<QII", answer)[2]
        if expected is not None and length != expected:
            raise Failure(f"{name}: {length} bytes for {expected}")
        return room.get()[:length]

    # section 10.2: one request of one packet on one session
    def dmp(self, device, operation, opcode, payload=b""):
        node, second = self.driver.open("hisi_hdc"), self.driver.open("hisi_hdc")

        def hdc(where, number, fields, reached=()):
            content = bytearray(200)
            for offset, form, value in fields:
                struct.pack_into("<" + form, content, offset, value)
            argument = Buffer(content)
            result = self.driver.ioctl(where, io("H", number), argument, reached)
            if result:
                raise Failure(result)
            return argument.get()

        opened = hdc(node, 0x13, [(0, "i", -1), (4, "i", device), (24, "i", 0)])
        session, alloc = struct.unpack_from("<i", opened, 28)[0], struct.unpack_from("<i", opened, 36)[0]
        hdc(second, 0x18, [(32, "i", session)])
        message = struct.pack("<QiiqiH", 0, device, 0, 0x1234567890, 0, 12 + len(payload))
        message += struct.pack("<BBHII", 0x80, operation, opcode, 0, len(payload)) + payload
        data = Buffer(message)
        hdc(node, 0x15, [(24, "i", session), (32, "Q", data.address), (40, "i", data.size), (64, "i", 2),
                         (68, "i", 3000)], [(data, IN)])
        peeked = hdc(node, 0x16, [(24, "i", session), (32, "i", 2), (36, "i", 3000), (48, "i", alloc)])
        length = struct.unpack_from("<i", peeked, 28)[0]
        reply = Buffer(bytes(length))
        hdc(node, 0x17, [(24, "i", session), (32, "Q", reply.address), (40, "i", length), (60, "i", 1)],
            [(reply, OUT)])
        hdc(node, 0x14, [(24, "i", session), (52, "i", alloc)])
        for end in (node, second):
            if isinstance(end, int):
                os.close(end)
            else:
                end[0].close()
        head = struct.unpack_from("<QiiqiH", reply.get())
        error, answered, total, _ = struct.unpack_from("<HHII", reply.get(), 30)
        assert head[3] == 0x1234567890 and head[4] == 1 and answered == opcode
        if error:
            raise Failure(error)
        assert total == length - 42, (total, length)
        return reply.get()[42:]

    def number(self, device, sub):  # E/n with u32 in and out
        return struct.unpack("<I", self.urd(0x45, sub, device, struct.pack("<I", device), 4))[0]

    def device(self, ids):
        logical = ids["logical"]
        word = struct.pack("<I", logical)
        out = dict(ids)
        out["status"] = struct.unpack("<I", self.flat("DEVMNG", io("M", 7), word))[0]
        out["startup"] = struct.unpack("<III", self.flat("DEVMNG", io("M", 163), struct.pack("<III", logical, 0, 0)))[1:]
        info = self.flat("DEVMNG", io("M", 20), struct.pack("<II312x", 0, logical))
        out["ai_core_count"], = struct.unpack_from("<I", info, 44)
        out["ai_cpu_count"], = struct.unpack_from("<I", info, 40)
        out["control_cpu_count"], = struct.unpack_from("<I", info, 16)
        out["vector_core_count"], = struct.unpack_from("<I", info, 96)
        out["chip_id"], out["die_id"] = struct.unpack_from("<II", info, 124)
        out["soc_version"] = text(info[144:176])
        out["core_bitmaps"] = [hex(word) for word in struct.unpack_from("<4Q", info, 176)]
        spec = struct.unpack("<5I4B", self.flat("DEVMNG", io("M", 17), struct.pack("<I20x", logical)))
        out["core_spec"] = spec[1]
        chip = self.urd(0x45, 29, 0, word, 112, own_number=True)
        out["chip_type"], out["chip_name"], out["chip_version"] = (text(chip[at:at + 32]) for at in (8, 40, 72))
        pci = struct.unpack("<8I", self.urd(0x45, 7, logical, word, 32))
        out["pci"] = {"vendor": pci[0], "device": pci[2], "bus": pci[4], "slot": pci[5], "function": pci[6]}
        address = struct.unpack("<I4B", self.flat("DEVMNG", io("M", 1), struct.pack("<II", logical, 0)))
        out["pci_address"] = address[1:4]
        for key, sub in (("board_id", 31), ("slot_id", 32), ("bom_id", 33), ("pcb_id", 34), ("boot_status", 35),
                         ("health", 2)):
            given = ids["physical"] if sub == 35 else logical
            out[key] = struct.unpack("<I", self.urd(0x45, sub, logical, struct.pack("<I", given), 4))[0]
        codes = self.urd(0x45, 1, 0, word, 528, own_number=True)
        count, = struct.unpack_from("<i", codes)
        out["error_codes"] = list(struct.unpack_from(f"<{count}I", codes, 4))
        out["temperature_c"], = struct.unpack("<h", self.udis(logical, 2, "soc_max_temp", 2))
        out["power_w"] = struct.unpack("<I", self.udis(logical, 2, "power_limit", 4))[0] / 10
        out["voltage_v"] = struct.unpack("<I", self.udis(logical, 2, "aic_volt", 4))[0] // 10 / 100
        out["ai_core_mhz"], = struct.unpack("<I", self.udis(logical, 2, "aic0_freq", 4))
        out["hbm_mhz"], = struct.unpack("<I", self.udis(logical, 2, "hbm_freq", 4))
        out["hbm_temperature_c"], = struct.unpack("<h", self.udis(logical, 2, "hbm_temp", 2))
        total, free = struct.unpack_from("<QQ", self.udis(logical, 0, "hbm_mem_info"), 128)
        out["hbm_total_mib"], out["hbm_used_mib"] = total // 1024, (total - free) // 1024
        out["ai_core_percent"], = self.udis(logical, 5, "aicore_util", 1)
        cores = self.udis(logical, 5, "aic_util", 132)
        out["cube_cores"] = struct.unpack_from("<I", cores)[0]
        out["ai_cpu_cores"] = len(self.udis(logical, 0, "aicpu_util")) // 4
        out["firmware_version"] = text(self.udis(logical, 0, "system_ver"))
        single, double, valid = struct.unpack("<III", self.udis(logical, 1, "ecc_rlt_cnt", 12))
        history = struct.unpack("<4I", self.udis(logical, 1, "ecc_his_cnt", 16))
        out["ecc"] = {"single_bit": single, "double_bit": double, "valid": bool(valid),
                      "single_bit_lifetime": history[0], "double_bit_lifetime": history[1],
                      "pages_offlined": history[2] + history[3]}
        out["ecc_records"] = [dict(zip(("count", "low", "high", "time"), record[1:])) for record in
                              struct.iter_unpack("<5I", self.udis(logical, 1, "single_ecc0", 160)) if record[1]]
        listed = self.flat("DEVMNG", io("M", 175), struct.pack("<6I256x", logical, 2, 0, 8, 0, 256))
        length, = struct.unpack_from("<I", listed, 20)
        out["processes"] = []
        for pid in struct.unpack_from(f"<{length // 4}i", listed, 24):
            by_name = struct.unpack("<Q", self.udis(logical, 3, f"{pid:08x}mem", 8))[0]
            asked = self.flat("DEVMNG", io("M", 175), struct.pack("<6I256x", logical, 2, pid, 9, 0, 256))
            by_number, = struct.unpack_from("<Q", asked, 24)
            out["processes"].append({"pid": pid, "hbm_mib": by_name // 2**20, "agree": by_name == by_number})
        totals = []
        for kind in (4, 5):
            answer = self.flat("DEVMNG", io("M", 175), struct.pack("<6I256x", logical, 2, 0, kind, 0, 256))
            totals.append(struct.unpack_from("<Q", answer, 24)[0])
        out["hbm_by_resource"] = totals
        # over HDC
        out["dmp"] = {
            "temperature_c": struct.unpack("<h", self.dmp(logical, 0, 0x0003))[0],
            "power_w": struct.unpack("<H", self.dmp(logical, 0, 0x0004))[0] / 10,
            "hbm_bandwidth_percent": struct.unpack("<I", self.dmp(logical, 0, 0x0605, b"\x0a"))[0],
            "ecc": struct.unpack("<II", self.dmp(logical, 0, 0x001F, b"\x02")),
            "ecc_history": struct.unpack("<4I", self.dmp(logical, 0, 0x0681, b"\x02")),
            "flash_count": struct.unpack("<I", self.dmp(logical, 0, 0x0606, b"\xff"))[0],
            "board_id": struct.unpack("<H", self.dmp(logical, 0, 0x000F)[:2])[0],
        }
        return out

    def refusals(self):
        """Queries that must not be answered, and how they are refused."""
        found = {}

        def refused(name, ask):
            try:
                ask()
                found[name] = 0
            except Failure as failure:
                found[name] = failure.result
        refused("unknown udis name", lambda: self.udis(0, 2, "no_such_name"))
        refused("unknown key", lambda: self.urd(0x45, 21, 0, bytes(4), 4))
        refused("udis input of 31 bytes", lambda: self.urd(0x45, 56, 0, bytes(31), 16))
        refused("udis output of 24 bytes", lambda: self.urd(0x45, 56, 0, struct.pack("<I16sIQ", 2, b"soc_max_temp", 0, 0), 24))
        refused("event read of 60 bytes", lambda: self.urd(0x45, 0, 0, bytes(60), 344, own_number=True))
        refused("no such device", lambda: self.number(99, 31))
        refused("retired DEVMNG number", lambda: self.flat("DEVMNG", io("M", 25), bytes(64)))
        refused("unknown DMP opcode", lambda: self.dmp(0, 0, 0x00EE))
        return found


def text(raw):
    return raw.split(b"\0", 1)[0].decode("latin-1")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    where = sys.argv[1]
    client = Client(SocketDriver(where[5:]) if where.startswith("unix:") else NodeDriver(where))
    json.dump({"devices": [client.device(ids) for ids in client.devices()], "refusals": client.refusals()},
              sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
