"""The ``lockstep`` command: one file a subcommand."""
