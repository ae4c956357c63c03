"""In: ir/target.def. Out: AMD's rows of it, by name, as dicts of text, and what an emitted source says of one to the templates. Refuses a
table of another form."""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _rows():
    with open(f"{ROOT}/ir/target.def") as f:
        text = f.read().replace("\\\n", "")
    fields = [x.strip() for x in re.search(r"^#define TARGET\((.*)\)$", text, re.M)[1].split(",")]
    for row in re.findall(r"^TARGET\((.*)\)$", text, re.M):
        values = [x.strip() for x in row.split(",")]
        if len(values) != len(fields):
            raise ValueError(f"ir/target.def: {row}")
        yield values[0], dict(zip(fields, values))


AMD = {name: row for name, row in _rows() if row["vendor"] == "amd"}
TARGETS = list(AMD)


def wave_of(target):
    return int(AMD[target]["wave"])


def device(target):
    """units, bytes a second of the device whose plans these are"""
    with open(f"{ROOT}/specs/devices/{AMD[target]['device'].strip(chr(34))}.yaml") as f:
        text = f.read()
    return [float(re.search(rf"^{what}: \{{is: ([\d.e]+)", text, re.M)[1]) for what in ("units", "bandwidth")]


def defines(target):
    """As gen/source/emit.c writes them, for a compiler's command line."""
    row = AMD[target]
    return ["-DTF_TARGET_AMD=1", f"-DTF_WAVE={row['wave']}", f"-DTF_OPERAND_BYTES={row['operand']}", f"-DTF_LDS_BANKS={row['banks']}",
            f"-DTF_COPIES_TO_LDS={row['copies']}"]
