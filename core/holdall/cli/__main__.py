"""`python -m holdall.cli` is `holdall`."""

from holdall.cli.program import run

if __name__ == "__main__":
    run()
