#!/usr/bin/env python3
"""usage: others.py TFGEN

The default config of every model type that this transformers knows: `tfgen import` takes those of runtime/model/family.def, and refuses the
others with exit code 4 and the key that says why."""
import json, pathlib, re, tempfile, warnings
from shared import *
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

warnings.filterwarnings("ignore")
TABLE = (pathlib.Path(__file__).parents[2] / "runtime" / "model" / "family.def").read_text()
KNOWN = set(re.findall(r'^(?:FAMILY|AROUND)\("([^"]+)"', TABLE, re.M))


def check(name):
    config = transformers.AutoConfig.for_model(name).to_dict()
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/config.json", "w") as f:
            json.dump(config, f, default=str)
        arguments = ["import", f"{folder}/config.json", f"--output={folder}/specs/", "--quiet"]
        run = subprocess.run([TFGEN, *arguments], capture_output=True, text=True)
    wanted = 0 if config.get("model_type") in KNOWN else 4  # 4, too: a model of two encoders without --part
    named = wanted == 0 or re.search(r"error: (\w+\.)*[a-z_]+: ", run.stderr)
    return wanted, (run.returncode == wanted and bool(named), run.stderr)


taken = refused = failed = 0
for name in sorted(CONFIG_MAPPING_NAMES):
    try:
        wanted, (good, said) = check(name)
    except Exception as why:
        print(f"none {name}: its class makes no config by itself: {type(why).__name__}")
        continue
    taken, refused, failed = taken + (wanted == 0), refused + (wanted != 0), failed + (not good)
    if not good:
        print(f"BAD  {name}: {said}", flush=True)
print(f"{taken} taken, {refused} refused by name, {failed} failed")
sys.exit(1 if failed else 0)
