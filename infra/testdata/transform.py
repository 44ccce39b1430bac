"""Prints, as JSON, the versions that SAM publishes for template.yaml: as it stands, and after each change."""

import copy
import json
import logging
import os
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")
logging.disable(logging.CRITICAL)

from cfnlint.decode import decode  # noqa: E402
from samtranslator.parser.parser import Parser  # noqa: E402
from samtranslator.translator.translator import Translator  # noqa: E402

template = json.loads(json.dumps(decode(sys.argv[1])[0]))
# What `sam build` and `sam package` would have filled in.
template["Globals"]["Function"]["CodeUri"] = "s3://bucket/key"
for resource in template["Resources"].values():
    if resource["Type"] == "AWS::Serverless::StateMachine":
        resource["Properties"]["DefinitionUri"] = {"Bucket": "bucket", "Key": "key"}


def versions(parameters, change=lambda t: None):
    t = copy.deepcopy(template)
    change(t)
    values = {name: p.get("Default") for name, p in t["Parameters"].items()} | parameters
    out = Translator({}, Parser()).translate(t, values)
    return sorted(k for k, r in out["Resources"].items() if r["Type"] == "AWS::Lambda::Version")


def other(name, parameter):
    """Another value than the default."""
    return next((v for v in parameter.get("AllowedValues", []) if v != parameter["Default"]), "other")


def slower(t):
    t["Resources"]["ReceiveEventFunction"]["Properties"]["Timeout"] = 4


json.dump(
    {
        "now": versions({}),
        "parameters": {n: versions({n: other(n, p)}) for n, p in template["Parameters"].items()},
        "timeout": versions({}, slower),
    },
    sys.stdout,
)
