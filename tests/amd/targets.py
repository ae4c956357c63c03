"""In: ir/target.def. Out: AMD's rows of it, by name, as dicts of text, and the macros with which emitted sources describe a target to the
templates. Refuses a table that it cannot parse."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _rows():
    with open(f"{ROOT}/ir/target.def") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    for row in re.findall(r"^TARGET\(((?:[^()]|\([^()]*\))*)\)$", text, re.M):
        names, *members = re.split(r"\.(\w+)\s*=", row)
        name, family, vendor = [x.strip() for x in names.split(",")[:3]]
        values = [x.strip().rstrip(",").strip() for x in members[1::2]]
        yield name, {"family": family, "vendor": vendor} | dict(zip(members[0::2], values))


AMD = {name: row for name, row in _rows() if row["vendor"] == "amd"}
TARGETS = list(AMD)


def wave_of(target):
    return int(AMD[target]["wave"])


def device(target):
    """Compute units, and bytes per second, of the device model that this target is planned for."""
    with open(f"{ROOT}/specs/devices/{AMD[target]['device'].strip(chr(34))}.yaml") as f:
        text = f.read()
    return [float(re.search(rf"^{what}: \{{is: ([\d.e]+)", text, re.M)[1]) for what in ("units", "bandwidth")]


def defines(target):
    """As gen/source/emit.c writes them, for a compiler's command line."""
    row = AMD[target]
    return ["-DTF_TARGET_AMD=1", f"-DTF_WAVE={row['wave']}", f"-DTF_OPERAND_BYTES={row['operand_bytes']}",
            f"-DTF_LDS_BANKS={row['lds_banks']}", f"-DTF_COPIES_TO_LDS={int('copies_to_lds' in row)}"]


if __name__ == "__main__":  # for lint: the table can still be read
    print(f"{len([defines(t) + device(t) for t in TARGETS])} AMD targets")
    sys.exit(not TARGETS)
