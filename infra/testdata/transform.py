"""Prints, as JSON, what SAM makes of template.yaml: the versions that it publishes, as it stands and after each change, or
with "roles" the whole of it, its functions named as before, without the roles of deployments."""

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


def expanded(parameters, change=lambda t: None):
    t = copy.deepcopy(template)
    change(t)
    values = {name: p.get("Default") for name, p in t["Parameters"].items()} | parameters
    return Translator({}, Parser()).translate(t, values)


def versions(parameters, change=lambda t: None):
    resources = expanded(parameters, change)["Resources"]
    return sorted(k for k, r in resources.items() if r["Type"] == "AWS::Lambda::Version")


def of_deployments(resource):
    trusted = json.dumps(resource.get("Properties", {}).get("AssumeRolePolicyDocument", {}))
    return resource["Type"] == "AWS::IAM::Role" and "codedeploy.amazonaws.com" in trusted


def other(name, parameter):
    """Another value than the default."""
    return next((v for v in parameter.get("AllowedValues", []) if v != parameter.get("Default")), "other")


def slower(t):
    t["Resources"]["ReceiveEventFunction"]["Properties"]["Timeout"] = 4


if sys.argv[2:] == ["roles"]:
    whole = expanded({})
    whole["Resources"] = {k: r for k, r in whole["Resources"].items() if not of_deployments(r)}
    for resource in whole["Resources"].values():
        if resource["Type"] == "AWS::Lambda::Function":
            resource["Type"] = "AWS::Serverless::Function"
    json.dump(whole, sys.stdout)
    sys.exit()

json.dump(
    {
        "now": versions({}),
        "parameters": {n: versions({n: other(n, p)}) for n, p in template["Parameters"].items()},
        "timeout": versions({}, slower),
    },
    sys.stdout,
)
