#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_clients.py BACKEND: the independent client and `npu-smi info -o json` must tell the same of every device.

Prints a line a difference and ends 1 when there is one. Run inside `davsim run`, or on nodes."""
import json
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
backend = sys.argv[1] if len(sys.argv) > 1 else os.environ["ASC_DEVICE"]
theirs = json.loads(subprocess.run([sys.executable, os.path.join(here, "independent_client.py"), backend], check=True,
                                   capture_output=True, text=True).stdout)
ours = json.loads(subprocess.run(["npu-smi", "info", "-o", "json"], check=True, capture_output=True, text=True).stdout)
differences = 0


def same(what, a, b):
    global differences
    if a != b:
        differences += 1
        print(f"{what}: the independent client says {a!r}, npu-smi {b!r}")


same("number of devices", len(theirs["devices"]), len(ours["devices"]))
for their, our in zip(theirs["devices"], ours["devices"]):
    at = f"device {their['logical']}"
    same(at + " physical id", their["physical"], our["phy_id"])
    same(at + " name", f"{their['chip_type']} {their['chip_name']}", our["name"])
    bus = f"{their['pci']['bus']:02x}:{their['pci']['slot']:02x}.{their['pci']['function']:x}"
    same(at + " bus id", bus, our["bus_id"].split(":", 1)[1].lower())
    same(at + " PCI address by both ways", tuple(their["pci_address"]),
         (their["pci"]["bus"], their["pci"]["slot"], their["pci"]["function"]))
    for key in ("temperature_c", "power_w", "hbm_total_mib", "hbm_used_mib", "firmware_version"):
        same(f"{at} {key}", their[key], our[key])
    same(at + " aicore_percent", their["ai_core_percent"], our["aicore_percent"])
    same(at + " health", ["OK", "Warning", "Alarm", "Critical"][their["health"]], our["health"])
    for key in ("single_bit", "double_bit", "single_bit_lifetime", "double_bit_lifetime", "pages_offlined"):
        same(f"{at} ecc {key}", their["ecc"][key], our["ecc"][key])
    same(at + " processes", sorted((p["pid"], p["hbm_mib"]) for p in their["processes"]),
         sorted((p["pid"], p["hbm_mib"]) for p in our["processes"]))
    same(at + " process memory by both ways", [p["agree"] for p in their["processes"]], [True] * len(their["processes"]))
    same(at + " temperature by DMP", their["dmp"]["temperature_c"], their["temperature_c"])
    same(at + " power by DMP", their["dmp"]["power_w"], their["power_w"])
    same(at + " ECC by DMP", list(their["dmp"]["ecc"]), [their["ecc"]["single_bit"], their["ecc"]["double_bit"]])
    same(at + " board id by DMP", their["dmp"]["board_id"], their["board_id"] & 0xFFFF)
    same(at + " HBM by resource", their["hbm_by_resource"][0] // 2**20, our["hbm_total_mib"])
    same(at + " status", their["status"], 1)
    same(at + " startup", list(their["startup"]), [16, 1])
    same(at + " boot status", their["boot_status"], 16)
# driver-abi.md 6.1, 6.2, 7, 9 and 10.2: how each is refused
expected = {"unknown udis name": -95, "unknown key": -95, "udis input of 31 bytes": -22, "udis output of 24 bytes": -22,
            "event read of 60 bytes": 8, "no such device": -19, "retired DEVMNG number": -95, "unknown DMP opcode": 0xFFFE}
for name, result in expected.items():
    same("refusal of " + name, theirs["refusals"][name], result)
if not theirs["devices"]:
    differences += 1
    print("no device was compared")
print(f"{len(theirs['devices'])} devices compared, {differences} differences")
sys.exit(1 if differences else 0)
