// The handler of the managed runtime, which is the one that streams answers. It starts the binary beside it with
// nothing of this process's environment and passes its frames on. index_test.go drives it as the runtime does.
import { spawn } from "node:child_process";
import { pipeline } from "node:stream/promises";

export const handler = awslambda.streamifyResponse(async (order, answer) => {
  const child = spawn("./bootstrap", ["machine", process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE], {
    cwd: process.env.LAMBDA_TASK_ROOT,
    env: {},
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  child.stdin.on("error", () => {}); // it ended before it had read the order; its answer, or none, says the rest
  child.stdin.end(JSON.stringify(order));
  try {
    await Promise.all([pipeline(child.stdout, answer), ended]);
  } finally {
    child.kill("SIGKILL"); // nobody listens any more
  }
});
