package models

import (
	"testing"

	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
)

func TestTheSampleIsValidWithoutAWarning(t *testing.T) {
	c, found := teamconfig.Workspace{FS: Sample()}.Contest(SampleFile)
	expect.That(t, len(found) == 0 && len(c.Teams) == 3 && len(c.Evaluator.Metrics) == 4,
		"%d teams, %v", len(c.Teams), found)
}
