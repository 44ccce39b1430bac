//go:build models

package main

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
)

func init() { made = append(made, ask) }

// ask links what a call of a model needs; its client is made at the first call.
func ask(ctx context.Context) error {
	m := anthropic.NewMessageService()
	_, err := m.New(ctx, anthropic.MessageNewParams{})
	return err
}
