"""``python -m lockstep`` is the ``lockstep`` command."""

from lockstep.cli.main import main

if __name__ == "__main__":
    main(prog_name="lockstep")
