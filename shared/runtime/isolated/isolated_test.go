package isolated

import (
	"os/exec"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// What a model is told of programs is what commands find: each can be started from the folders that are searched, and
// none that is there is left out.
func TestAModelIsToldWhatIsInstalled(t *testing.T) {
	told := Programs()
	t.Setenv("PATH", Searched)
	for _, name := range asked {
		_, err := exec.LookPath(name)
		there := strings.Contains(", "+told+",", ", "+name+",")
		expect.That(t, there == (err == nil) || err == nil && !there && !readable(Find(name)), "%s: told %t, found %v", name,
			there, err)
	}
	expect.Has(t, Installed("git, python3"),
		"sh, the usual small programs of Linux, and git, python3. There is no network")
	expect.That(t, strings.Contains(Installed(""), "Node.js 24") && Runtime == "nodejs24.x", "in Lambda: %s",
		Installed(""))
}
