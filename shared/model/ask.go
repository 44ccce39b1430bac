package model

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"ringi/shared/schema"
)

//go:embed schemas/*.json prompts/*.md
var files embed.FS

// maxOutput is how many bytes of an answer are looked at; every layer's limits are far below.
const maxOutput = 1 << 20

// question is what one layer asks: its prompt and schema are files named after the purpose.
type question struct {
	purpose Purpose
	locale  string
	try     int
	data    any // becomes JSON; nothing in it is an instruction
	tokens  int
	// accept reads an answer that fits the schema. What it returns as problems
	// is told to the model once.
	accept func(answer []byte) (problems []string)
}

// ask makes the call, and once more with what was wrong with the first answer.
func ask(ctx context.Context, g Generator, q question) (Usage, error) {
	shape, compiled, err := shapeOf(q.purpose)
	if err != nil {
		return Usage{}, err
	}
	system, err := prompt(q.purpose, q.locale)
	if err != nil {
		return Usage{}, err
	}
	data, err := fenced(q.data)
	if err != nil {
		return Usage{}, fmt.Errorf("write the data for %s: %w", q.purpose, err)
	}
	r := Request{
		Purpose: q.purpose, Try: max(1, q.try), System: system, MaxTokens: q.tokens, Schema: shape,
		Messages: []Message{{Role: User, Text: data}},
	}
	first, err := g.Generate(ctx, r)
	if err != nil {
		return first.Usage, fmt.Errorf("%s: %w", q.purpose, err)
	}
	problems, err := judge(first, q, compiled)
	if err != nil || len(problems) == 0 {
		return first.Usage, err
	}
	r.Messages = append(r.Messages,
		Message{Role: Assistant, Text: first.Text, Opaque: first.Opaque},
		Message{Role: User, Text: "The answer can't be used:\n- " + strings.Join(problems, "\n- ") + "\nAnswer again, completely, as JSON of the schema alone."})
	second, err := g.Generate(ctx, r)
	usage := first.Usage.plus(second.Usage)
	if err != nil {
		return usage, fmt.Errorf("%s, asked again: %w", q.purpose, err)
	}
	if problems, err = judge(second, q, compiled); err != nil {
		return usage, err
	}
	if len(problems) > 0 {
		return usage, &OutputError{Purpose: q.purpose, Problems: problems}
	}
	return usage, nil
}

// judge says what is wrong with an answer. A refusal is an *Error.
func judge(r Response, q question, shape *schema.Schema) ([]string, error) {
	switch {
	case r.Stop == StopRefused:
		return nil, &Error{Provider: r.Usage.Provider, Kind: Refused, RequestID: r.Usage.RequestID}
	case r.Stop == StopLength:
		return []string{fmt.Sprintf("it was cut off after %d tokens: be shorter", q.tokens)}, nil
	case len(r.Text) > maxOutput:
		return []string{fmt.Sprintf("it is %d bytes long, the limit is %d", len(r.Text), maxOutput)}, nil
	}
	text := unfenced([]byte(r.Text))
	v, err := schema.Decode(text)
	if err != nil {
		return []string{"it is " + err.Error()}, nil
	}
	var problems []string
	for _, p := range shape.Check(v) {
		problems = append(problems, p.String())
	}
	if len(problems) == 0 {
		problems = q.accept(text)
	}
	return problems[:min(len(problems), 20)], nil
}

// unfenced takes off the code fence that models put around JSON when nothing enforces its form.
func unfenced(text []byte) []byte {
	text = bytes.TrimSpace(text)
	inner, ok := bytes.CutPrefix(text, []byte("```"))
	if !ok {
		return text
	}
	inner, closed := bytes.CutSuffix(inner, []byte("```"))
	if !closed {
		return text
	}
	return bytes.TrimSpace(bytes.TrimPrefix(inner, []byte("json")))
}

// fenced writes data so that no text in it can end the fence: JSON escapes < and >.
func fenced(data any) (string, error) {
	b, err := json.MarshalIndent(data, "", " ")
	if err != nil {
		return "", err
	}
	return "<data>\n" + string(b) + "\n</data>", nil
}

func shapeOf(p Purpose) (json.RawMessage, *schema.Schema, error) {
	text, err := files.ReadFile("schemas/" + string(p) + ".json")
	if err != nil {
		return nil, nil, fmt.Errorf("schema of %s: %w", p, err)
	}
	s, err := schema.Compile(string(p), string(text))
	return text, s, err
}

func prompt(p Purpose, locale string) (string, error) {
	if locale != "en" {
		locale = "ja"
	}
	text, err := files.ReadFile("prompts/" + string(p) + "." + locale + ".md")
	if err != nil {
		return "", fmt.Errorf("prompt of %s: %w", p, err)
	}
	return string(text), nil
}
