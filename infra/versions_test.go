package infra_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// transformed runs testdata/transform.py, which transforms a template as SAM does, and returns its output.
func transformed(t *testing.T, arguments ...string) []byte {
	t.Helper()
	cmd := exec.Command(samTool(t, "python"), append([]string{filepath.Join("testdata", "transform.py")}, arguments...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	expect.Must(t, err == nil, "%v\n%s", err, &errs)
	return out
}

// SAM transforms the template. The resulting roles must be those by which the local stack judges calls: SAM adds no
// role and no right.
func TestRolesAreThoseThatSAMDeploys(t *testing.T) {
	file := filepath.Join(t.TempDir(), "expanded.json")
	expect.NoError(t, os.WriteFile(file, transformed(t, filepath.Join(repository, templateFile), "roles"), 0o600))
	everything := map[string]string{"Stage": "dev", "Sandbox": "on", "ContestWorkspace": "s3://contests/files"}
	ours := expect.Value(template.Roles(filepath.Join(repository, templateFile), anyAccount, everything))(t)
	if deployed := expect.Value(template.Roles(file, anyAccount, everything))(t); !reflect.DeepEqual(ours, deployed) || len(ours) == 0 {
		for owner, role := range deployed {
			expect.That(t, reflect.DeepEqual(role, ours[owner]), "%s is %+v, deployed is %+v", owner, ours[owner], role)
		}
		t.Errorf("%d roles, deployed are %d", len(ours), len(deployed))
	}
}

// In SAM's own transformation, only the functions behind the API have versions. A change of such a function publishes
// one; a parameter's change doesn't.
func TestVersionsArePublishedByWhatChangesThem(t *testing.T) {
	out := transformed(t, filepath.Join(repository, templateFile))
	var got struct {
		Now, Timeout []string
		Parameters   map[string][]string
	}
	err := json.Unmarshal(out, &got)
	expect.Must(t, err == nil, "%v in %s", err, out)
	of := func(function string, versions []string) string {
		at := slices.IndexFunc(versions, func(v string) bool { return strings.HasPrefix(v, function+"Version") })
		expect.Must(t, at >= 0, "%s has no version among %v", function, versions)
		return versions[at]
	}
	expect.That(t, len(got.Now) == len(edge) && of(slackEdge[0], got.Now) != "" && of(slackEdge[1], got.Now) != "",
		"published are %v, wanted those of %v", got.Now, edge)
	for name, versions := range got.Parameters {
		expect.That(t, slices.Equal(versions, got.Now), "the parameter %s makes %v of %v", name, versions, got.Now)
	}
	expect.That(t, of(slackEdge[0], got.Timeout) != of(slackEdge[0], got.Now) &&
		of(slackEdge[1], got.Timeout) == of(slackEdge[1], got.Now),
		"a new timeout of %s makes %v of %v", slackEdge[0], got.Timeout, got.Now)
}
