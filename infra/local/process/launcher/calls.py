"""Answers what a system asks of its tables and queues all the time, without moto's way there.

moto takes each call through a web framework made for browsers, a search for the service,
and a reading of the body as a form: half of the time of a small call, and of the server's
in the tests of shared/store (8 s of its processor time instead of 5). Here the header that
names the operation leads to the same handler. A call that is unusual in any way (its body
is packed, it is not signed, nobody knows its operation) is left to moto's own way.
"""

import functools
import json
import os
import random
import re
from urllib.parse import urlsplit

import moto.core.responses as core_responses
from botocore.model import OperationNotFoundError
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.utils import camelcase_to_underscores, get_service_model
from moto.dynamodb.responses import DynamoHandler
from moto.dynamodbstreams.responses import DynamoDBStreamsHandler
from moto.iam.models import get_account_id_from
from moto.sqs.responses import SQSResponse
from moto.utilities.utils import get_partition

HANDLERS = {
    "DynamoDB_20120810": DynamoHandler,
    "DynamoDBStreams_20120810": DynamoDBStreamsHandler,
    "AmazonSQS": SQSResponse,
}
SIGNED = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/,]+)/\d{8}/([a-z0-9-]+)/(?:dynamodb|sqs)/aws4_request,")
UNUSUAL = ("content-encoding", "transfer-encoding", "expect", "x-moto-account-id")
# What a body of DynamoDB's must not have to be taken as it stands: bytes, and members without a value.
CONVERTED = re.compile(rb'"BS?"|null')


@functools.cache
def operation(target):
    """The handler of an operation, and the model of what it is given; nothing if it has none."""
    service, _, action = target.partition(".")
    handler = HANDLERS.get(service)
    if handler is None or camelcase_to_underscores(action) not in core_responses.method_names_from_class(handler):
        return None
    try:
        return handler, get_service_model(handler().service_name).operation_model(action)
    except OperationNotFoundError:
        return None


@functools.lru_cache(maxsize=256)
def names_region(agent):
    """Whether moto would take the region from the client's name."""
    return core_responses.BaseResponse.region_from_useragent_regex.search(agent) is not None


def account_of(key):
    return os.environ.get("MOTO_ACCOUNT_ID") or get_account_id_from(key)


def identified(headers, body):
    """An answer with its id. moto also looks for the id of an answer in XML in each body."""
    headers["x-amzn-requestid"] = f"{random.getrandbits(128):032x}"  # asks no system, whose answer waits for a turn
    return headers, body


class Call:
    """A call that is answered here."""

    def __init__(self, headers, found, key, region):
        self.headers, self.key, self.region = headers, key, region
        self.handler, self.model = found

    @classmethod
    def of(cls, method, path, headers):
        """The call that such a request is; nothing if it is left to moto."""
        target = headers.get("x-amz-target")
        found = target and path == "/" and method == "POST" and operation(target)
        if not found or "content-length" not in headers or any(name in headers for name in UNUSUAL):
            return None
        signed = SIGNED.match(headers.get("authorization", ""))
        if signed is None or names_region(headers.get("user-agent", "")) or not headers.get("content-type",
            "").startswith("application/x-amz-json-1."):
            return None
        if ".amazonaws.com" in headers.get("host", ""):
            return None
        return cls(headers, found, *signed.groups())

    def answer(self, body):
        """The status, headers and content of what the handler says."""
        handler = self.handler()
        url = "http://" + self.headers.get("host", "localhost") + "/"
        handler.is_werkzeug_request = True
        handler.headers, handler.querystring, handler.data = self.headers, {}, {}
        handler.form_data, handler.uri_match = {}, {}
        handler.method, handler.uri, handler.path, handler.raw_path = "POST", url, "/", "/"
        handler.parsed_url = urlsplit(url)
        handler.region, handler.partition = self.region, get_partition(self.region)
        handler.response_headers = {"server": "amazon.com"}
        handler.raw_body, handler.body = body, body.decode()
        handler.access_key, handler.current_account = self.key, account_of(self.key)
        handler._enrich_response = identified
        if handler.automated_parameter_parsing:
            handler.params = self.parameters(body)
        status, headers, content = handler.call_action()
        headers.pop("status", None)
        return status, headers, content.encode() if isinstance(content, str) else content

    def parameters(self, body):
        if self.handler is DynamoHandler and not CONVERTED.search(body):
            known = self.model.input_shape.members
            return {name: value for name, value in json.loads(body).items() if name in known}
        parser = PROTOCOL_PARSERS["json"](self.model, map_type=self.handler.PROTOCOL_PARSER_MAP_TYPE)
        return parser.parse({"body": body})
