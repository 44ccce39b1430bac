package boot_test

import (
	"testing"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
)

type environment struct {
	boot.Table
	boot.Slack
	Pace string `env:"SLACK_PACE" doc:"x"`
}

func TestAnErrorNamesAllThatIsMissing(t *testing.T) {
	t.Setenv("SLACK_PACE", "")
	t.Setenv("SLACK_SECRET_ID", "slack")
	t.Setenv("TABLE_NAME", "")
	var e environment
	if err := boot.Read(&e); err == nil || err.Error() != "environment variables are missing: TABLE_NAME, SLACK_PACE" {
		t.Error(err)
	}
	t.Setenv("TABLE_NAME", "ringi")
	t.Setenv("SLACK_PACE", "1")
	err := boot.Read(&e)
	expect.That(t, err == nil && e.TableName == "ringi" && e.SlackSecretID == "slack" && e.SlackAPIURL == "" &&
		e.Pace == "1", "%+v, %v", e, err)
}
