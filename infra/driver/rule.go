package driver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

// Rule saves a tool's constraints in the sandbox's panel, and takes them away when the test ends.
func Rule(t *testing.T, s *stack.Stack, tool, constraints string) (status int, answer string) {
	t.Helper()
	put := func(constraints string) (int, string) {
		body := expect.Value(json.Marshal(map[string]any{"user": workspace.Suzuki, "tool": tool, "allowed": true, "constraints": json.RawMessage(constraints)}))(t)
		r := expect.Value(http.NewRequest(http.MethodPut, s.URL+"/sandbox/permissions", bytes.NewReader(body)))(t)
		r.Header.Set("Content-Type", "application/json")
		res := expect.Value(http.DefaultClient.Do(r))(t)
		defer res.Body.Close()
		b := expect.Value(io.ReadAll(res.Body))(t)
		return res.StatusCode, string(b)
	}
	t.Cleanup(func() { put(`{}`) })
	return put(constraints)
}
