"""The types of `import gradebox`: a module of one file can't carry py.typed itself."""

from eval import rewards as rewards
from eval.calls import close as close
from eval.calls import grade as grade
from eval.calls import grade_async as grade_async
from eval.calls import run as run
from eval.calls import run_async as run_async
from eval.client import Client as Client
from eval.grader import CompileError as CompileError
from eval.grader import Grader as Grader
from eval.input_error import InputError as InputError
from eval.records import latest_records as latest_records
from eval.records import read_records as read_records
from eval.records import to_frame as to_frame
from sandbox.choose import open_sandbox as open_sandbox
from sandbox.errors import BadRequest as BadRequest
from sandbox.errors import SandboxError as SandboxError
from sandbox.model import Execution as Execution
from sandbox.model import Limits as Limits

__version__: str
