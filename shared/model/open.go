package model

import (
	"fmt"
	"log/slog"
	"strings"
)

// Known lists the providers that Open knows.
func Known() []string { return []string{"demo"} }

// Open finds the provider of a model's name, as settings and the MODEL parameter
// have it. A name that it cannot place gives an *Error of kind UnknownModel that
// lists those it can.
func Open(name string, log *slog.Logger) (Generator, error) {
	if provider, _, _ := strings.Cut(name, ":"); provider == "demo" {
		return demonstration{log}, nil
	}
	return nil, &Error{Provider: "none", Kind: UnknownModel, Err: fmt.Errorf("no provider for %.100q, known: %s", name, strings.Join(Known(), ", "))}
}
