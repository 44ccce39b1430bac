package main

import (
	"os"
	"testing"

	"ringi/shared/runtime/expect"
)

// What Python compiles is nothing that a person can read, so no pull request takes it.
func TestPythonLeavesNothingCompiled(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		got := run(t, l, newStore(t).order(`command -v python3 >/dev/null || { echo none; exit; }
mkdir -p a; echo 'x = 1' > a/m.py; python3 -c 'import a.m; print(a.m.x)'; find . -name '*.pyc'`))
		expect.NoError(t, got.err)
		if got.text() == "none" && os.Getenv("CI") == "" {
			t.Skip("there is no python3 where commands look for programs")
		}
		expect.Is(t, got.text(), "1")
	})
}
