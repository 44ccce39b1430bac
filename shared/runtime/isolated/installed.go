package isolated

import (
	"os"
	"path/filepath"
	"strings"
)

// Runtime is the managed runtime in which commands run in Lambda. It provides the tools that they find there.
const Runtime = "nodejs24.x"

// Searched are the folders in which commands find programs; the last has Lambda's runtime.
const Searched = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin:/var/lang/bin"

// Beside is a folder beside the sandbox's binary in Lambda, in which commands find Python, too.
const Beside = "python"

// python tells a model what the Python in Lambda is and lacks; see functions/run-sandbox/python.
const python = "python3 (CPython 3.14 in WebAssembly, which takes seconds to start: the standard library without pip, " +
	"other packages such as numpy, subprocesses, threads, sockets and asyncio.run)"

// Tools are the folders of a machine that commands can read in each form of isolation. They contain no home folders,
// configuration or services' data.
var Tools = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/alternatives",
	"/var/lang"}

// Installed tells a model which tools commands find: in Lambda those of Runtime, elsewhere the programs of that machine
// (see Programs), separated by commas.
func Installed(programs string) string {
	if programs == "" {
		programs = "Node.js 24 with npm and npx, " + python
	}
	return "sh, the usual small programs of Linux, and " + programs +
		". There is no network: nothing can be downloaded or installed. A result says which tool is missing."
}

// asked are the programs that Programs looks for.
var asked = []string{"bash", "gcc", "git", "go", "java", "jq", "make", "node", "npm", "npx", "perl", "php", "pip3",
	"python3", "ruby", "rustc", "sqlite3"}

// Programs returns which of the programs that agents look for commands find on this machine, separated by commas.
func Programs() string {
	var found []string
	for _, name := range asked {
		if path, err := filepath.EvalSymlinks(Find(name)); err == nil && readable(path) {
			found = append(found, name)
		}
	}
	return strings.Join(found, ", ")
}

func readable(path string) bool {
	for _, folder := range Tools {
		if strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}

// Find returns the path of a program in the folders that are searched, or "" if there is none.
func Find(name string) string { return FindIn(Searched, name) }

// FindIn returns the path of a program in folders, which are separated by colons, or "" if there is none.
func FindIn(folders, name string) string {
	for _, folder := range filepath.SplitList(folders) {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}
