// Package bolt has the witness that uses Bolt for JavaScript, Slack's own framework.
package bolt

import (
	"bytes"
	"embed"
	"os/exec"
	"testing"

	"ringi/infra/local/npm"
	"ringi/infra/witness"
	"ringi/shared/runtime/expect"
)

//go:embed package.json package-lock.json .npmrc app.js
var files embed.FS

func app(t *testing.T) witness.App {
	t.Helper()
	expect.Patience(t)
	node, dir := npm.Start(t, "bolt", files)
	return witness.App{Name: "the Bolt app", Command: func(testing.TB) *exec.Cmd {
		cmd := exec.Command(node, "app.js")
		cmd.Dir = dir
		return cmd
	}}
}

func TestBoltUnderstandsTheSandbox(t *testing.T) {
	expect.AtNight(t) // by day it checks signatures
	witness.Walk(t, app(t))
}

func TestBoltRefusesAForeignSignature(t *testing.T) { witness.CheckForgeryRefused(t, app(t)) }

// The lock file pins contents, not the registry that they come from.
func TestTheLockNamesNoRegistry(t *testing.T) {
	lock := expect.Value(files.ReadFile("package-lock.json"))(t)
	expect.That(t, !bytes.Contains(lock, []byte(`"resolved"`)) && bytes.Contains(lock, []byte(`"integrity": "sha512-`)),
		"package-lock.json holds addresses, or no hashes; .npmrc leaves the addresses out when npm writes it")
}
