package process

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ringi/shared/runtime/expect"
)

// fake makes a Python that prints this benchmark time. If missing is set, it fails because a part is missing.
func fake(t *testing.T, seconds string, missing bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python3")
	script := fmt.Sprintf("#!/bin/sh\n%t && exit 1\necho %s\n", missing, seconds)
	expect.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	return path
}

func TestTheFasterPythonIsTaken(t *testing.T) {
	for name, tt := range map[string]struct {
		first, own string
		ownLacks   bool
		takesOwn   bool
	}{
		"the first is as fast":            {"0.0010", "0.0010", false, false},
		"the first is slower":             {"0.0018", "0.0011", false, true},
		"slower, and the other can't do":  {"0.0018", "0.0011", true, false},
		"a little slower, as noise makes": {"0.00105", "0.0010", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			first, before := fake(t, tt.first, false), system
			system = fake(t, tt.own, tt.ownLacks)
			t.Cleanup(func() { system = before })
			t.Setenv("PATH", filepath.Dir(first)+":/bin")
			want := map[bool]string{false: first, true: system}[tt.takesOwn]
			got := expect.Value(find(t.Context()))(t)
			expect.That(t, got == want, "took %s", got)
		})
	}
}
