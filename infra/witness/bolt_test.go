package witness

import (
	"bytes"
	"embed"
	"io/fs"
	"os/exec"
	"testing"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

//go:embed bolt/package.json bolt/package-lock.json bolt/.npmrc bolt/app.js
var boltFiles embed.FS

func app(t *testing.T) App {
	t.Helper()
	expect.Patience(t)
	node, dir := process.StartNode(t, "bolt", expect.Value(fs.Sub(boltFiles, "bolt"))(t))
	return App{Name: "the Bolt app", Command: func(testing.TB) *exec.Cmd {
		cmd := exec.Command(node, "app.js")
		cmd.Dir = dir
		return cmd
	}}
}

func TestBoltUnderstandsTheSandbox(t *testing.T) {
	expect.AtNight(t) // by day it checks signatures
	Walk(t, app(t))
}

func TestBoltRefusesAForeignSignature(t *testing.T) { CheckForgeryRefused(t, app(t)) }

// The lock file pins contents, not the registry that they come from.
func TestTheLockNamesNoRegistry(t *testing.T) {
	lock := expect.Value(boltFiles.ReadFile("bolt/package-lock.json"))(t)
	expect.That(t, !bytes.Contains(lock, []byte(`"resolved"`)) && bytes.Contains(lock, []byte(`"integrity": "sha512-`)),
		"package-lock.json holds addresses, or no hashes; .npmrc leaves the addresses out when npm writes it")
}
