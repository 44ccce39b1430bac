"""What moto's state machine interpreter lacks for runs that wait for people.

- A task token takes one answer; a second, late or orphaned one is refused
  with TaskTimedOut, as in AWS. moto accepts it, or overwrites the first.
- StopExecution ends a run that waits for a token at once, and a run that was
  stopped stays ABORTED. moto says FAILED when a state was under way.
- Starting two runs of one name at the same moment makes one run.
- SDK clients of tasks are made once per service, not once per task.
- A JSONPath is parsed once, not each time that a state reads its input, by a
  parser that is made once; and a definition once, not for each run: moto
  computes 13 ms and 60 ms for them. What a part of a definition says is put
  together once, too. Without this and the shared clients infra's test of all
  runs takes 30 s instead of 8.
- Batch, which moto loads with all of EC2 for one list of names, is left out:
  that is most of what a start computes.
"""

import enum
import functools
import sys
import threading
import types

import boto3
from antlr4.RuleContext import RuleContext
from botocore.config import Config
from jsonpath_ng.ext.parser import ExtentedJsonPathParser

batch = types.ModuleType("moto.batch.utils")
batch.JobStatus = enum.Enum("JobStatus",
    {s: s for s in ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")}, type=str)
sys.modules.setdefault("moto.batch", types.ModuleType("moto.batch"))
sys.modules.setdefault("moto.batch.utils", batch)

from moto.core.exceptions import AWSError
from moto.stepfunctions.parser import models
from moto.stepfunctions.parser.asl.component.common.path import result_path
from moto.stepfunctions.parser.asl.eval.callback.callback import CallbackOutcomeFailure, CallbackOutcomeSuccess
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.program_state import ProgramStopped
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser, Preprocessor
from moto.stepfunctions.parser.asl.utils import boto_client, json_path
from moto.stepfunctions.parser.backend import execution as executions

answers = threading.Lock()


def apply():
    answer_tokens_once()
    stop_waiting_runs()
    start_names_once()
    share_clients()
    parse_once()


class TaskTimedOut(AWSError):
    TYPE = "TaskTimedOut"
    STATUS = 400

    def __init__(self):
        super().__init__("Task Timed Out: 'Provided task does not exist anymore'")


class InvalidToken(AWSError):
    TYPE = "InvalidToken"
    STATUS = 400

    def __init__(self):
        super().__init__("Invalid Token: 'Invalid token'")


def endpoint_of(execution, token):
    worker = execution.exec_worker
    return worker.env.callback_pool_manager.get(token) if worker else None


def answer_tokens_once():
    backend = models.StepFunctionsParserBackend

    def answer(self, token, outcome):
        for execution in self._get_executions():
            endpoint = endpoint_of(execution, token)
            if endpoint is None:
                continue
            with answers:
                over = execution.status != "RUNNING" or endpoint.consumer_error is not None
                if over or endpoint._notify_event.is_set():
                    raise TaskTimedOut()
                endpoint.notify(outcome=outcome)
            return
        raise InvalidToken()

    def send_task_success(self, task_token, outcome):
        answer(self, task_token, CallbackOutcomeSuccess(callback_id=task_token, output=outcome))

    def send_task_failure(self, task_token, error=None, cause=None):
        answer(self, task_token, CallbackOutcomeFailure(callback_id=task_token, error=error, cause=cause))

    backend.send_task_success = send_task_success
    backend.send_task_failure = send_task_failure
    models.TaskTimedOut = models.TaskDoesNotExist = TaskTimedOut


def stop_waiting_runs():
    stop = executions.Execution.stop

    def stop_run(self, *args, **kwargs):
        stop(self, *args, **kwargs)
        worker = self.exec_worker
        if not worker:
            return
        with answers:
            for endpoint in list(worker.env.callback_pool_manager._pool.values()):
                if not endpoint._notify_event.is_set():
                    endpoint.notify(outcome=CallbackOutcomeSuccess(callback_id=endpoint.callback_id, output="{}"))

    executions.Execution.stop = stop_run
    fail = Environment.set_error

    def set_error(self, error):
        if not isinstance(self._program_state, ProgramStopped):
            fail(self, error)

    Environment.set_error = set_error


def start_names_once():
    backend = models.StepFunctionsParserBackend
    start = backend.start_execution
    starts = threading.Lock()

    def start_execution(self, *args, **kwargs):
        with starts:
            return start(self, *args, **kwargs)

    backend.start_execution = start_execution


def share_clients():
    clients, making = {}, threading.Lock()

    def client(**kwargs):
        key = (kwargs["service_name"], kwargs["region_name"])
        with making:
            if key not in clients:
                # localhost may mean ::1 first, where nothing listens.
                kwargs["endpoint_url"] = kwargs["endpoint_url"].replace("localhost", "127.0.0.1")
                kwargs["config"] = kwargs["config"].merge(Config(max_pool_connections=200))
                clients[key] = boto3.client(**kwargs)
            return clients[key]

    boto_client.boto3 = types.SimpleNamespace(client=client)


def parse_once():
    parser, parsing = ExtentedJsonPathParser(), threading.Lock()

    @functools.lru_cache(maxsize=1024)
    def parsed(path):
        with parsing:
            return parser.parse(path)

    json_path.parse = result_path.parse = parsed
    text = RuleContext.getText

    def text_once(self):
        if not hasattr(self, "text"):
            self.text = text(self)
        return self.text

    RuleContext.getText = text_once
    parse = AmazonStateLanguageParser.parse
    tree_of = functools.lru_cache(maxsize=64)(lambda definition: parse(definition)[1])

    def program(definition):
        # The tree is only read; each run has components of its own.
        tree = tree_of(definition)
        return Preprocessor().visit(tree), tree

    AmazonStateLanguageParser.parse = staticmethod(program)


def warm():
    """Makes the client of the first task, which takes a quarter of a second."""
    boto_client.boto_client_for("us-east-1", "lambda")
