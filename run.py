"""Reprise on the command line: python run.py --help."""

from graph.surfaces.cli.main import main

if __name__ == "__main__":
    main()
