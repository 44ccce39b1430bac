// Python for commands in Lambda: CPython compiled to WebAssembly (Pyodide), with the arguments of python3. It is a
// process of the command like any other: what isolates Node.js isolates it, too.
import { readdirSync } from "node:fs";
import { loadPyodide } from "pyodide";

// Python has these folders itself; of the machine's it sees all others.
const own = ["dev", "lib", "proc"];
const folders = readdirSync("/", { withFileTypes: true })
  .filter((e) => e.isDirectory() && !own.includes(e.name))
  .map((e) => "/" + e.name);

const mount = (files) => {
  for (const folder of folders) {
    files.mkdirTree(folder);
    files.mount(files.filesystems.NODEFS, { root: folder }, folder);
  }
};

const python = await loadPyodide({
  args: process.argv.slice(2),
  // Pyodide begins in HOME, where Python then looks for its script. PYTHONINSPECT, which it sets, would have a program
  // go on after sys.exit.
  env: { ...process.env, HOME: process.cwd(), PYTHONINSPECT: "" },
  fsInit: mount,
});
python.setStdout();
python.setStderr();
python.runPython(`import os; os.environ["HOME"] = ${JSON.stringify(process.env.HOME ?? "/")}`);
try {
  const main = python._module;
  process.exitCode = await (main.jspiSupported ? main.promisingRunMain() : main._run_main());
} catch (err) {
  if (err?.constructor?.name !== "ExitStatus") {
    throw err;
  }
  process.exit(err.status); // os._exit
}
// Nothing else calls what a program left for its end.
python.runPython(`import atexit, sys
atexit._run_exitfuncs()
for file in sys.stdout, sys.stderr:
    if file and not file.closed:
        file.flush()`);
