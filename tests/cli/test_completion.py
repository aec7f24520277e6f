"""What shells are told, by click's own protocol; bash runs the script, if it is there."""

import os
import shutil
import subprocess
import sys

import click
import pytest
from click.shell_completion import CompletionItem, ShellComplete

from lockstep import kernels
from lockstep.cli.completion import PROGRAM, SHELLS, VARIABLE
from lockstep.cli.main import COMMANDS, main
from lockstep.gpus import library
from lockstep.metrics import registry


def completed(*words):
    """What completes the last word."""
    shell = ShellComplete(main, {}, PROGRAM, VARIABLE)
    return shell.get_completions(list(words[:-1]), words[-1])


def values(*words):
    return [item.value for item in completed(*words) if item.type == "plain"]


def test_commands_with_what_they_do():
    assert values("s") == [name for name in COMMANDS if name.startswith("s")]
    item = next(i for i in completed("simu"))
    assert isinstance(item, CompletionItem)
    assert (item.value, item.help) == ("simulate", COMMANDS["simulate"])


def test_completing_a_command_imports_none_of_them():
    program = (
        "import sys; from click.shell_completion import ShellComplete as S\n"
        "from lockstep.cli.main import main\n"
        "S(main, {}, 'lockstep', 'X').get_completions([], 's')\n"
        "print([m for m in sys.modules if m in ('lockstep.cli.simulate', 'numpy', 'pandas')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_every_option_that_chooses_a_gpu_completes_their_names():
    names = sorted(n for n in library.names() if n.startswith("H1"))
    seen = 0
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        parts = command.commands if isinstance(command, click.Group) else {"": command}
        for inner, part in parts.items():
            if any("--gpu" in parameter.opts for parameter in part.params):
                words = [name, inner] if inner else [name]
                assert sorted(values(*words, "--gpu", "h1")) == names, words
                seen += 1
    assert seen > 10


@pytest.mark.parametrize("command", ["run", "trace", "profile", "caches"])
def test_programs_are_completed(command):
    assert values(command, "reduce_") == [n for n in kernels.names() if n.startswith("reduce_")]
    assert [i.type for i in completed(command, "examples/kern")] == ["file"]


def test_gpus_studies_and_metrics_are_completed():
    assert values("gpus", "QV") == ["QV100"]
    assert values("study", "adaptive") == ["adaptive-l1"]
    dram = [m.name for m in registry.REGISTRY if m.name.startswith("dram__")]
    assert values("metrics", "dram__") == dram


@pytest.mark.parametrize("shell", SHELLS)
def test_there_is_a_script_for_each_shell(call, shell):
    done = call("completion", shell)
    assert done.exit_code == 0
    assert f"{VARIABLE}={shell}_complete" in done.stdout and PROGRAM in done.stdout


def test_another_shell_is_refused(call):
    done = call("completion", "tcsh")
    assert done.exit_code == 2 and "tcsh" in done.stderr and "fish" in done.stderr


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes(call, tmp_path):
    script = tmp_path / "completion"
    script.write_text(call("completion", "bash").stdout)
    program = tmp_path / "lockstep"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lockstep "$@"\n')
    program.chmod(0o755)
    lines = (
        f"source {script}; compopt() {{ :; }}; COMP_WORDS=(lockstep gpus QV); COMP_CWORD=2; "
        'complete -p lockstep; _lockstep_completion lockstep; echo "${COMPREPLY[@]}"'
    )
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", lines], env=environment, capture_output=True, text=True)
    first, second = done.stdout.splitlines()
    assert first.endswith("-F _lockstep_completion lockstep")
    assert second == "QV100"
