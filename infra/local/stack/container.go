package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"ringi/infra/local/vendors"
)

// containerPath lists the functions with the variables that they need in containers.
const containerPath = "/_ringi/container"

// containers is the listener for functions in containers, which know this machine by another name.
type containers struct {
	listener net.Listener
	name     string // host.docker.internal
	url      string // http://<name>:<port>
	aws      http.Handler
}

// listenForContainers opens the listener, if a host name for containers is set.
func (s *Stack) listenForContainers() error {
	if s.options.ContainerHost == "" {
		return nil
	}
	l, err := listen(s.options.ContainerAddr, "-container-addr")
	if err != nil {
		return err
	}
	s.onClose(func() { l.Close() })
	s.containers = &containers{listener: l, name: s.options.ContainerHost,
		url: fmt.Sprintf("http://%s:%d", s.options.ContainerHost, port(l))}
	s.ContainerURL, s.ContainerAddr = s.containers.url, l.Addr().String()
	return nil
}

// serveContainers serves AWS, Slack's Web API and the vendors at one address.
func (s *Stack) serveContainers() {
	if s.containers == nil {
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/", s.containers.aws)
	for _, path := range []string{"/freee/", "/google/", "/sheets/", vendors.GitHubPath + "/"} {
		mux.Handle(path, s.Vendors.Handler())
	}
	if s.Sandbox != nil {
		mux.Handle("/api/", s.Sandbox.Handler())
	}
	s.onClose(serve(s.containers.listener, mux, s.containers.name))
}

// containerSecret names a copy of a secret in which Slack has the address that containers use.
func containerSecret(name string) string { return name + "-for-containers" }

// containerFunctions returns the functions with addresses that work inside a container.
func (s *Stack) containerFunctions() []functionInfo {
	names := strings.NewReplacer(s.VendorsURL, s.containers.url, s.AWSEndpoint, s.containers.url, s.VendorsHost(),
		strings.TrimPrefix(s.containers.url, "http://"))
	var out []functionInfo
	for _, f := range s.functions {
		f.Environment = maps.Clone(f.Environment)
		delete(f.Environment, "SLACK_API_URL") // containers find it in their secret
		for name, value := range f.Environment {
			f.Environment[name] = names.Replace(value)
		}
		if id := f.Environment["SLACK_SECRET_ID"]; id != "" {
			f.Environment["SLACK_SECRET_ID"] = containerSecret(id)
		}
		f.Environment["AWS_ENDPOINT_URL"] = s.containers.url
		out = append(out, f)
	}
	return out
}

func (s *Stack) containerHandler() http.Handler {
	if s.containers == nil {
		return http.NotFoundHandler()
	}
	return s.serveFunctions(s.containerFunctions)
}

// ErrNoStack means that no stack answers at the address.
var ErrNoStack = errors.New("no stack answers; start one with go run ./infra/local")

// SignEvent signs a sample request from Slack for the stack at awsAddr. It returns an error wrapping ErrNoStack if none
// answers.
func SignEvent(ctx context.Context, awsAddr string, event []byte) ([]byte, error) {
	endpoint := "http://" + awsAddr
	list, found := runningFunctions(ctx, endpoint, functionsPath)
	if !found {
		return nil, fmt.Errorf("%s: %w", awsAddr, ErrNoStack)
	}
	for _, f := range list {
		if id := f.Environment["SLACK_SECRET_ID"]; id != "" {
			return sign(ctx, endpoint, id, event)
		}
	}
	return event, nil
}

// ContainerTemplate returns a template for `sam local invoke`. It has the functions that `sam build` made for
// architecture ("arm64", "x86_64") in the folder artifacts, with the variables of the stack at awsAddr. A template is
// needed because SAM passes only variables that the template declares, and no deployed template declares
// AWS_ENDPOINT_URL.
//
// It returns an error wrapping ErrNoStack if no stack answers that serves containers.
func ContainerTemplate(ctx context.Context, awsAddr, artifacts, architecture string) ([]byte, error) {
	list, found := runningFunctions(ctx, "http://"+awsAddr, containerPath)
	if !found {
		return nil, fmt.Errorf("%s: %w -container-host host.docker.internal", awsAddr, ErrNoStack)
	}
	artifacts, err := filepath.Abs(artifacts)
	if err != nil {
		return nil, err
	}
	resources := map[string]any{}
	for _, f := range list {
		resources[f.Name] = map[string]any{
			"Type": "AWS::Serverless::Function",
			"Properties": map[string]any{
				"Runtime": "provided.al2023", "Architectures": []string{architecture}, "Handler": "bootstrap", "CodeUri": filepath.Join(artifacts, f.Name),
				"MemorySize": f.Memory, "Timeout": int(f.Timeout / time.Second), "Environment": map[string]any{"Variables": f.Environment},
			},
		}
	}
	return json.MarshalIndent(map[string]any{"AWSTemplateFormatVersion": "2010-09-09", "Transform": "AWS::Serverless-2016-10-31", "Resources": resources}, "", "  ")
}
