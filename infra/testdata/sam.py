"""Runs commands of the SAM CLI one after the other, each in a fork of this process: loading the CLI takes longer than
most commands.

A command is a line of JSON on standard input: its folder, environment, arguments and a file for its output. When it has
ended, its exit status is a line on standard output."""

import json
import os
import sys

import samcli.commands.deploy.command  # noqa: F401
import samcli.commands.deploy.deploy_context  # noqa: F401
import samcli.commands.package.package_context  # noqa: F401
from samcli.cli.main import cli


def run(folder, environment, arguments, output):
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(written, 1)
    os.dup2(written, 2)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["sam", *arguments]
    sys.exit(cli())


for line in sys.stdin:
    command = json.loads(line)
    child = os.fork()
    if child == 0:
        run(**command)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
