package template

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Table is a DynamoDB table.
type Table struct {
	ID, Name   string
	Attributes []Attribute
	Key        Key
	Indexes    []Index
	Stream     string // view type, "" without a stream
	Expiry     string // TTL attribute, "" without
}

// Attribute is one that is part of some key; Type is S, N or B.
type Attribute struct {
	Name string `json:"AttributeName"`
	Type string `json:"AttributeType"`
}

// Key names the attributes of a key; Range may be empty.
type Key struct{ Hash, Range string }

// Index is a global secondary index.
type Index struct {
	Name       string
	Key        Key
	Projection string
	NonKey     []string
}

type keySchema []struct{ AttributeName, KeyType string }

func (s keySchema) key() Key {
	var k Key
	for _, e := range s {
		if e.KeyType == "HASH" {
			k.Hash = e.AttributeName
		} else {
			k.Range = e.AttributeName
		}
	}
	return k
}

func readTable(id, name string, properties map[string]any) (Table, error) {
	var p struct {
		AttributeDefinitions   []Attribute
		KeySchema              keySchema
		GlobalSecondaryIndexes []struct {
			IndexName  string
			KeySchema  keySchema
			Projection struct {
				ProjectionType   string
				NonKeyAttributes []string
			}
		}
		StreamSpecification     struct{ StreamViewType string }
		TimeToLiveSpecification struct {
			AttributeName string
			Enabled       bool
		}
	}
	t := Table{ID: id, Name: name}
	if err := decode(properties, &p); err != nil {
		return t, err
	}
	t.Attributes, t.Key, t.Stream = p.AttributeDefinitions, p.KeySchema.key(), p.StreamSpecification.StreamViewType
	if t.Key.Hash == "" {
		return t, fmt.Errorf("KeySchema has no HASH key")
	}
	if p.TimeToLiveSpecification.Enabled {
		t.Expiry = p.TimeToLiveSpecification.AttributeName
	}
	for _, g := range p.GlobalSecondaryIndexes {
		t.Indexes = append(t.Indexes, Index{
			Name: g.IndexName, Key: g.KeySchema.key(), Projection: or(g.Projection.ProjectionType, "ALL"), NonKey: g.Projection.NonKeyAttributes,
		})
	}
	return t, nil
}

// Queue is an SQS queue. Attributes are those of its CreateQueue call.
type Queue struct {
	ID, Name, URL, ARN string
	Attributes         map[string]string
	DeadLetters        string // ARN of the queue that takes what failed, or ""
}

// FIFO tells an ordered queue.
func (q Queue) FIFO() bool { return q.Attributes["FifoQueue"] == "true" }

func queueAttributes() []string {
	return []string{
		"FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit", "VisibilityTimeout",
		"MessageRetentionPeriod", "DelaySeconds", "MaximumMessageSize", "ReceiveMessageWaitTimeSeconds", "RedrivePolicy",
	}
}

func readQueue(id, name string, properties map[string]any) (Queue, error) {
	q := Queue{ID: id, Name: name, Attributes: map[string]string{}}
	for _, attribute := range queueAttributes() {
		switch v := properties[attribute].(type) {
		case nil:
		case map[string]any:
			q.DeadLetters, _ = v["deadLetterTargetArn"].(string)
			text, err := json.Marshal(v)
			if err != nil {
				return q, fmt.Errorf("%s: %w", attribute, err)
			}
			q.Attributes[attribute] = string(text)
		default:
			q.Attributes[attribute] = fmt.Sprint(v)
		}
	}
	return q, nil
}

// Machine is a Step Functions state machine with its definition substituted.
type Machine struct {
	ID, Name, ARN string
	Type          string // STANDARD or EXPRESS
	Definition    string
}

func readMachine(id, name, dir string, properties map[string]any) (Machine, error) {
	var p struct {
		Type, StateMachineType  string
		DefinitionUri           string
		DefinitionString        string
		Definition              any
		DefinitionSubstitutions map[string]any
	}
	m := Machine{ID: id, Name: name}
	if err := decode(properties, &p); err != nil {
		return m, err
	}
	m.Type = or(or(p.Type, p.StateMachineType), "STANDARD")
	text := p.DefinitionString
	switch {
	case p.DefinitionUri != "":
		file, err := os.ReadFile(filepath.Join(dir, p.DefinitionUri))
		if err != nil {
			return m, fmt.Errorf("DefinitionUri: %w", err)
		}
		text = string(file)
	case p.Definition != nil:
		inline, err := json.Marshal(p.Definition)
		if err != nil {
			return m, fmt.Errorf("Definition: %w", err)
		}
		text = string(inline)
	}
	var err error
	if m.Definition, err = define(text, p.DefinitionSubstitutions); err != nil {
		return m, err
	}
	return m, nil
}

// define fills in a definition's ${…}; one without a substitution, and text
// that isn't JSON afterwards, are errors that AWS would find only at deployment.
func define(text string, substitutions map[string]any) (string, error) {
	var missing []string
	out := placeholder.ReplaceAllStringFunc(text, func(match string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(match, "${"), "}")
		v, ok := substitutions[name]
		if !ok {
			missing = append(missing, name)
			return match
		}
		return fmt.Sprint(v)
	})
	if missing != nil {
		return "", fmt.Errorf("DefinitionSubstitutions lacks %s", strings.Join(missing, ", "))
	}
	if !json.Valid([]byte(out)) {
		return "", fmt.Errorf("the state machine's definition is no JSON")
	}
	return out, nil
}
