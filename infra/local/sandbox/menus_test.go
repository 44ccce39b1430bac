package sandbox_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/sandbox"
	"ringi/shared/runtime/expect"
)

// manifest is the app manifest that is pasted at Slack.
const manifest = "../../slack-manifest.yaml"

func TestTheMenusAreThoseOfTheManifest(t *testing.T) {
	messages, globals, err := sandbox.ReadMenus(manifest)
	expect.NoError(t, err)
	expect.Same(t, []sandbox.Shortcut{
		{CallbackID: "cancel_task", Name: "取り消す・終える", NameEN: "Cancel or end"},
		{CallbackID: "ringi_from_message", Name: "この依頼を稟議に", NameEN: "Ask Ringi"},
		{CallbackID: "propose_action", Name: "操作を提案", NameEN: "Propose action"},
	}, messages)
	expect.Same(t, []sandbox.Shortcut{{CallbackID: "ringi_new", Name: "稟議を依頼", NameEN: "New request"}}, globals)
}

func TestAManifestThatCannotBeReadIsNamed(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "manifest.yaml")
	for text, want := range map[string]string{
		"features: 1": bad,
		"features: {shortcuts: [{name: a, type: channel, callback_id: odd}]}": `odd is of the type "channel"`,
	} {
		expect.NoError(t, os.WriteFile(bad, []byte(text), 0o600))
		_, _, err := sandbox.ReadMenus(bad)
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", text, err)
	}
	_, _, err := sandbox.ReadMenus(bad + ".none")
	expect.That(t, errors.Is(err, fs.ErrNotExist), "a manifest that is not there: %v", err)
}
