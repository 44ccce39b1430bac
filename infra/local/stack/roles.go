package stack

import (
	"encoding/json"
	"fmt"
	"strings"

	"ringi/infra/local/template"
)

// bench returns the check of functions' calls against their roles, or nil if it is turned off.
func (s *Stack) bench(names template.Names, parameters map[string]string) (*template.Bench, error) {
	if s.options.IAMOff {
		return nil, nil
	}
	roles, err := template.Roles(s.options.Template, names, parameters)
	if err != nil {
		return nil, err
	}
	var notes *template.Notes
	if s.options.ownTemplate {
		if notes, err = template.TakeNotes(); err != nil {
			return nil, err
		}
	}
	return &template.Bench{Account: s.Template.Account(names), Roles: roles, Notes: notes, Log: s.log}, nil
}

// connect checks the rights that AWS itself needs from roles: to read event sources, to send failed batches to their
// destination, and to call functions from states. Without these rights AWS refuses to create the event source, or the
// state fails.
func (s *Stack) connect(b *template.Bench) error {
	for _, f := range s.Template.Functions {
		for _, m := range f.Streams {
			if err := b.Must(f.ID, m.Source, "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"); err != nil {
				return fmt.Errorf("event %s: %w", m.Event, err)
			}
			if m.OnFailure == "" {
				continue
			}
			if err := b.Must(f.ID, m.OnFailure, "sqs:SendMessage"); err != nil {
				return fmt.Errorf("event %s: %w", m.Event, err)
			}
		}
		for _, m := range f.Queues {
			if err := b.Must(f.ID, m.Source, "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"); err != nil {
				return fmt.Errorf("event %s: %w", m.Event, err)
			}
		}
	}
	for _, m := range s.Template.Machines {
		var definition any
		if err := json.Unmarshal([]byte(m.Definition), &definition); err != nil {
			return fmt.Errorf("state machine %s: %w", m.ID, err)
		}
		for _, function := range called(definition) {
			if err := b.Must(m.ID, function, "lambda:InvokeFunction"); err != nil {
				return fmt.Errorf("state machine %s: %w", m.ID, err)
			}
		}
	}
	return nil
}

// called returns the ARNs of the functions that a definition's states call.
func called(v any) (arns []string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			arns = append(arns, called(x)...)
		}
	case map[string]any:
		for key, x := range v {
			name, _ := x.(string)
			if key == "FunctionName" || key == "Resource" && strings.Contains(name, ":function:") {
				arns = append(arns, name)
			}
			arns = append(arns, called(x)...)
		}
	}
	return arns
}
