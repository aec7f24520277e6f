"""``python -m lockstep`` is the ``lockstep`` command."""

import sys


def main() -> None:
    """Run the command; a Ctrl-C while it is being imported ends it as a later one does."""
    try:
        from lockstep.cli.main import main as command

        command(prog_name="lockstep")
    except KeyboardInterrupt:
        from lockstep.cli.signals import INTERRUPTED

        sys.stderr.write("lockstep: interrupted\n")
        raise SystemExit(INTERRUPTED) from None


if __name__ == "__main__":
    main()
