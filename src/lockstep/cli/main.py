"""The ``lockstep`` command: finds subcommands, and turns errors into one line and exit code 2."""

import atexit
import errno
import functools
import gc
import os
import sys
from importlib import import_module
from typing import TextIO

import click
from click.shell_completion import CompletionItem

from lockstep.cli.group import CommandGroup
from lockstep.cli.signals import INTERRUPTED, ending_by_signals
from lockstep.errors import LockstepError, printable

COMMANDS = {
    "run": "Execute a program on a modelled GPU, with its cycles.",
    "opencl": "Execute one OpenCL kernel of a binary for AMD's Southern Islands.",
    "simulate": "Simulate a trace on a GPU.",
    "replay": "Execute the recorded calls of a CUDA program.",
    "trace": "Execute a program and record its trace.",
    "profile": "Say what each launch of a program did: a launch table.",
    "sample": "Choose launches that stand for all: a plan.",
    "caches": "Say how often caches of many sizes miss.",
    "proxy": "Make small files that access memory as programs do.",
    "kernels": "List the programs that come with lockstep.",
    "info": "Say what is in a trace.",
    "metrics": "List metrics, what they mean, and what others call them.",
    "convert": "Convert a trace to another format.",
    "disasm": "Disassemble the GPU code of a program.",
    "gpus": "List the GPUs, or describe one.",
    "systems": "List the systems of several GPUs, or describe one.",
    "tune": "Make a GPU file from measurements.",
    "compare": "Compare results of two or more runs.",
    "correlate": "Compare results with measurements.",
    "validate": "Repeat the published validation.",
    "microbench": "Measure a modelled GPU as a real one.",
    "sweep": "Simulate many points: workloads, changes of GPUs, seeds.",
    "study": "Repeat case studies of the memory system.",
    "sst": "Compile the component that joins GPUs to SST.",
    "bench": "Measure speed and memory on traces.",
    "doctor": "Say what is missing here, and what more could be had.",
    "cache": "Fill, describe or clear what is kept on disk.",
    "completion": "Print what lets a shell complete commands and names.",
}


class Failure(click.ClickException):
    """Bad input: one line on stderr, exit code 2."""

    exit_code = 2

    def __init__(self, message: str):
        super().__init__(printable(message))

    def show(self, file=None) -> None:
        """Print the message, in one line."""
        click.echo("lockstep: " + " ".join(self.message.split("\n")), file=file, err=True)


class Commands(CommandGroup):
    """Imports a subcommand's module only when it is called: start-up time is felt."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The subcommands, most used first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand, or None."""
        if cmd_name not in COMMANDS:
            return None
        return import_module(f"lockstep.cli.{cmd_name}").command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The subcommands that begin so, without importing any of them."""
        items = [
            CompletionItem(name, help=meaning)
            for name, meaning in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return items + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands in the help text without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def make_context(self, *args, **extra) -> click.Context:
        """Read the arguments; a Ctrl-C meanwhile has the exit code of one that comes later."""
        _start_fast()
        try:
            return super().make_context(*args, **extra)
        except KeyboardInterrupt:
            click.echo("lockstep: interrupted", err=True)
            raise SystemExit(INTERRUPTED) from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what stands before the subcommand; without anything, click prints the help."""
        if not args:
            return super().parse_args(ctx, args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise _wrong_usage(error) from None

    def invoke(self, ctx: click.Context):
        """Run the subcommand; what a signal ended has its exit code, whatever came of it."""
        with ending_by_signals() as ending:
            code = 0
            try:
                result = self._invoke(ctx)
            except KeyboardInterrupt as error:  # its notes say what was being executed
                notes = getattr(error, "__notes__", ())
                click.echo("; ".join(["lockstep: interrupted", *notes]), err=True)
                code = ending.code or INTERRUPTED
            except click.ClickException as failure:
                # click takes it from the object
                failure.exit_code = ending.code or failure.exit_code  # type: ignore[misc]
                raise
            except SystemExit:
                if not ending.code:
                    raise
            except Exception:  # code that lost the exception of a signal may fail for want of it
                if not ending.code:
                    raise
                click.echo("lockstep: interrupted", err=True)
            if code or ending.code:
                raise SystemExit(code or ending.code)
            return result

    def _invoke(self, ctx: click.Context):
        """Run the subcommand; the input's faults become exit code 2."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except LockstepError as error:
            raise Failure(str(error)) from error
        except click.UsageError as error:
            raise _wrong_usage(error) from None
        except MemoryError as error:
            raise Failure(f"not enough memory: {error}") from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # click ends quietly where the reader has left
                raise
            sys.stdout = _nothing()  # else the interpreter flushes it again
            place = error.filename or "standard output"
            raise Failure(f"{place}: {error.strerror or error}") from error


def _print_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from lockstep.metrics.manifest import version

        click.echo(f"lockstep {version()}")
        ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version.",
)
def main() -> None:
    """A GPU simulator: CUDA kernels or traces in; results, cycles, counters and timelines out.

    Exit codes: 0 done, 1 the simulation ended early and the results are partial, or a program's
    results are wrong, 2 bad input, 128 + n ended by signal n (130: Ctrl-C), also with results.
    """
    _prepare_streams()


def _wrong_usage(error: click.UsageError) -> Failure:
    command = error.ctx.command_path if error.ctx else "lockstep"
    return Failure(f"{error.format_message().rstrip('.')}; see {command} --help")


@functools.cache
def _start_fast() -> None:
    """Leave out what a short run would wait for in vain; NumPy is not imported yet.

    * Look for garbage seldom, and at the end, when all of it goes anyway, not at all. A run makes
      some 50,000 objects at its start that live to its end; to look at them again and again took
      a sixth of a short run.
    * NumPy's BLAS starts threads when it is imported, which look for work until they sleep: 0.1 s
      of CPU on two cores. Matrices are small here. A user's program is not told: it gets
      ``os.environ``, which is left as it is.
    """
    gc.set_threshold(250_000)
    atexit.register(gc.freeze)
    if "OPENBLAS_NUM_THREADS" not in os.environ:
        os.putenv("OPENBLAS_NUM_THREADS", "1")


def _nothing() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def _prepare_streams() -> None:
    """Print what the terminal's character set lacks as "?", and into a closed stream nothing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, _nothing())
        else:
            getattr(sys, name).reconfigure(errors="replace")
