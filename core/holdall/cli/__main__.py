"""`python -m holdall.cli` is `holdall`."""

from holdall.cli.application import main

if __name__ == "__main__":
    main(prog_name="holdall")
