"""The wheel's version, which is that of tfgen.h, and its tag: any Python 3, and the glibc that its programs need (manylinux_2_28 at least).
`make wheel` runs it in a folder where the libraries are."""
import glob
import platform
import re

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.dist import Distribution


def version():
    with open("tfgen.h") as f:
        return ".".join(re.findall(r"#define TFGEN_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", f.read()))


def glibc():
    """The newest glibc version among the symbols that programs and libraries need."""
    found = [28]
    for name in glob.glob("tfgen/lib/*"):
        with open(name, "rb") as f:
            found += [int(v) for v in re.findall(rb"GLIBC_2\.(\d+)", f.read())]
    return max(found)


class Wheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", f"manylinux_2_{glibc()}_{platform.machine()}"


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), cmdclass={"bdist_wheel": Wheel}, distclass=Binary)
