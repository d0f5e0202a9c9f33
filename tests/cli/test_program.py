"""The program at its first moment: Ctrl-C is one line, wherever it comes."""

import os
import subprocess
import sys
from importlib.metadata import entry_points

import holdall.cli
from holdall.cli import application

INTERRUPTS = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "holdall.cli.application":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Finder())
"""


def test_the_script_begins_before_the_commands_are_imported():
    (script,) = entry_points(group="console_scripts", name="holdall")
    assert script.value == "holdall.cli.program:run"
    assert holdall.cli.main is application.main
    code = "import sys, holdall.cli.program; sys.exit('click' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ctrl_c_among_the_imports_is_one_line(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTS)
    for command in (["-m", "holdall.cli"], ["-c", "from holdall.cli.program import run; run()"]):
        result = subprocess.run(
            [sys.executable, *command, "adapters"],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (result.returncode, result.stdout, result.stderr) == (130, "", "holdall: interrupted\n")


def test_ctrl_c_between_making_a_coroutine_and_running_it_is_one_line(run, distribution):
    source = """
        import holdall

        async def never():
            pass

        @holdall.hookimpl
        def holdall_register_commands(cli):
            @cli.command()
            def interrupted():
                "Be interrupted."
                coroutine = never()
                raise KeyboardInterrupt
    """
    distribution("early", plugins={"early": "early_module"}, source=source)
    result = run("interrupted")
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "holdall: interrupted\n")
