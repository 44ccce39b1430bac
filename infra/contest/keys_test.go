package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"ringi/shared/runtime/expect"
)

func TestEachModelOfTheFilesIsCalledWithItsOwnKey(t *testing.T) {
	var mu sync.Mutex
	calls := map[string]bool{}
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Model string }
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &asked)
		}
		mu.Lock()
		defer mu.Unlock()
		calls[strings.Join([]string{r.URL.Path, asked.Model, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("X-Api-Key")}, " ")] = err == nil
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"type":"authentication_error"}}`)
	}))
	defer vendor.Close()
	folder := t.TempDir()
	contest := "[orchestrator]\n"
	for team, model := range map[string]string{"a": "anthropic:claude-haiku-4-5", "b": "openai:gpt-4o", "c": "google-gla:gemini-2.5-flash", "d": "compatible:my-box/llama3"} {
		contest += "[[orchestrator.teams]]\nconfig = '" + team + ".toml'\n"
		write(t, folder, team+".toml", "[team]\nteam_id = '"+team+"'\nteam_name = '"+team+"'\n[team.leader]\nmodel = '"+model+"'\nmax_retries = 0\n")
	}
	write(t, folder, "contest.toml", contest)
	env := map[string]string{
		"MIXSEEK_WORKSPACE": folder, "ANTHROPIC_API_KEY": "key-a", "ANTHROPIC_BASE_URL": vendor.URL, "OPENAI_API_KEY": "key-o", "OPENAI_BASE_URL": vendor.URL + "/v1",
		"GOOGLE_API_KEY": "key-g", "GEMINI_BASE_URL": vendor.URL + "/gemini", "MY_BOX_BASE_URL": vendor.URL + "/box", "MY_BOX_API_KEY": "key-b",
	}
	r := runIn(t, env, "exec", "-c", "contest.toml", "Write a policy")
	if r.code != 2 || strings.Count(r.out, "API key is missing or not valid") != 4 || strings.Contains(r.out+r.problem, "key-") {
		t.Errorf("%+v", r)
	}
	want := []string{"/box/chat/completions llama3 key-b", "/gemini/chat/completions gemini-2.5-flash key-g", "/v1/messages claude-haiku-4-5 key-a", "/v1/responses gpt-4o key-o"}
	got := slices.Sorted(maps.Keys(calls))
	expect.That(t, slices.Equal(got, want), "%q\nwant %q", got, want)
	if r := runIn(t, env, "exec", "-c", "contest.toml", "--dry-run", "--json"); r.code != 0 || !strings.Contains(r.out, `"google-gla:gemini-2.5-flash"`) {
		t.Errorf("a dry run: %+v", r)
	}
}
