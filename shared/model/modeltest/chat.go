package modeltest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed chat.json
var chat string

// Completion compares an answer with OpenAI's description of Chat Completions.
func Completion(body string) []string { return chatDifferences("completion", body) }

// ChatFailure compares the body of an error with OpenAI's description.
func ChatFailure(body string) []string { return chatDifferences("failure", body) }

func chatDifferences(kind, body string) []string {
	var s jsonschema.Schema
	var v any
	err := json.Unmarshal([]byte(strings.Replace(chat, "{", fmt.Sprintf(`{"$ref": "#/$defs/%s",`, kind), 1)), &s)
	if err == nil {
		err = json.Unmarshal([]byte(body), &v)
	}
	if err != nil {
		return []string{err.Error()}
	}
	form, err := s.Resolve(nil)
	if err == nil {
		err = form.Validate(v)
	}
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}
