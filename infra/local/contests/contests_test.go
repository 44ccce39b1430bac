package contests

import (
	"testing"

	"ringi/shared/model/teamconfig"
)

func TestTheSampleIsValidWithoutAWarning(t *testing.T) {
	c, found := teamconfig.Workspace{FS: Sample()}.Contest(File)
	if len(found) != 0 || len(c.Teams) != 3 || len(c.Evaluator.Metrics) != 4 {
		t.Errorf("%d teams, %v", len(c.Teams), found)
	}
}
