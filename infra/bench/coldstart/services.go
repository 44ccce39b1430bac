package coldstart

import (
	"fmt"
	"maps"
	"net"
	"net/http"
)

// services answer what functions ask while they start: the Slack secret.
type services struct {
	url    string
	server *http.Server
}

func startServices() (*services, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &services{url: "http://" + l.Addr().String(), server: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue" {
			http.Error(w, "only the secret is here", http.StatusNotImplemented)
			return
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		fmt.Fprintf(w, `{"SecretString":"{\"signing_secret\":\"8f742231b10e8888abcd99yyyzzz85a5\",\"bot_token\":\"xoxb-bench\",\"api_url\":\"http://%s/api/\"}"}`, l.Addr())
	})}}
	go s.server.Serve(l)
	return s, nil
}

func (s *services) close() { s.server.Close() }

// environment is a function's own with what Lambda sets.
func (s *services) environment(own map[string]string) []string {
	all := map[string]string{
		"AWS_ENDPOINT_URL": s.url, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_LAMBDA_FUNCTION_NAME": "bench", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512", "AWS_LAMBDA_LOG_FORMAT": "JSON", "AWS_LAMBDA_LOG_LEVEL": "INFO", "TZ": ":UTC",
		"PATH": "/usr/local/bin:/usr/bin:/bin",
	}
	maps.Copy(all, own)
	return list(all)
}
