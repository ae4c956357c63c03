"""`python -m tfgen` runs the wheel's command tfgen; from the source tree, $TFGEN or the one that make built."""
import os
import sys

from ._binding import HERE, bundled, find_nvrtc


def main() -> None:
    built = os.path.join(HERE, "..", "..", "tfgen")
    program = os.environ.get("TFGEN") or bundled("tfgen") or built
    find_nvrtc()
    try:
        os.execv(program, ["tfgen", *sys.argv[1:]])
    except OSError as e:
        sys.exit(f"tfgen: {program}: {e.strerror}")


if __name__ == "__main__":
    main()
