package stack_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

const dockerHost = "host.docker.internal"

// asks calls an address as a container does, with another host name for this machine.
func asks(t *testing.T, addr, host, method, path, body string, header map[string]string) (status int) {
	t.Helper()
	expect.Patience(t)
	r := expect.Value(http.NewRequestWithContext(t.Context(), method, "http://"+addr+path, strings.NewReader(body)))(t)
	r.Host = host
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp := expect.Value(http.DefaultClient.Do(r))(t)
	resp.Body.Close()
	return resp.StatusCode
}

func TestContainersAreServedUnderOneName(t *testing.T) {
	s := start(t, stack.Options{ContainerHost: dockerHost})
	host := strings.TrimPrefix(s.ContainerURL, "http://")
	expect.Must(t, strings.HasPrefix(host, dockerHost+":"), "containers are told %s", s.ContainerURL)
	_, port, _ := strings.Cut(host, ":")
	tables := map[string]string{
		"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0",
		"Authorization": "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
	}
	for _, tt := range []struct {
		name, addr, host, path string
		header                 map[string]string
		answered               bool
	}{
		{"AWS", s.ContainerAddr, host, "/", tables, true},
		{"Slack", s.ContainerAddr, host, "/api/auth.test", nil, true},
		{"a vendor", s.ContainerAddr, host, "/freee/token", nil, true},
		{"AWS under a foreign name", s.ContainerAddr, "evil.example:" + port, "/", tables, false},
		{"Slack under a foreign name", s.ContainerAddr, "evil.example:" + port, "/api/auth.test", nil, false},
		{"a page of another site", s.ContainerAddr, host, "/api/auth.test", map[string]string{"Origin": "http://evil.example"}, false},
		{"the AWS endpoint by that name", strings.TrimPrefix(s.AWSEndpoint, "http://"), host, "/", tables, false},
		{"the sandbox by that name", strings.TrimPrefix(s.URL, "http://"), host, "/api/auth.test", nil, false},
	} {
		status := asks(t, tt.addr, tt.host, http.MethodPost, tt.path, "{}", tt.header)
		if refused := status == http.StatusForbidden; refused == tt.answered || tt.name == "AWS" && status != http.StatusOK {
			t.Errorf("%s: %d", tt.name, status)
		}
	}
}

func TestATemplateForContainersSaysAllThatFunctionsAreTold(t *testing.T) {
	expect.Patience(t)
	s := start(t, stack.Options{ContainerHost: dockerHost})
	door := strings.TrimPrefix(s.AWSEndpoint, "http://")
	text := expect.Value(stack.ContainerTemplate(t.Context(), door, "build", "x86_64"))(t)
	expect.That(t, !strings.Contains(string(text), "127.0.0.1"),
		"a container can't reach what is named here:\n%s", text)
	var made struct {
		Resources map[string]struct {
			Properties struct {
				CodeUri     string
				Environment struct{ Variables map[string]string }
			}
		}
	}
	expect.NoError(t, json.Unmarshal(text, &made))
	expect.That(t, len(made.Resources) == len(s.Template.Functions),
		"it has %d functions, not %d", len(made.Resources), len(s.Template.Functions))
	for name, f := range made.Resources {
		expect.That(t, f.Properties.Environment.Variables["AWS_ENDPOINT_URL"] == s.ContainerURL && strings.HasSuffix(f.Properties.CodeUri, "build/"+name),
			"%s: %+v", name, f.Properties)
	}
	without := start(t, stack.Options{})
	if _, err := stack.ContainerTemplate(t.Context(), strings.TrimPrefix(without.AWSEndpoint, "http://"), "build", "arm64"); err == nil || !strings.Contains(err.Error(), "-container-host") {
		t.Errorf("of a stack that serves no containers: %v", err)
	}
}
