package template

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Queue is an SQS queue. Attributes are those of the CreateQueue call.
type Queue struct {
	ID, Name, URL, ARN string
	Attributes         map[string]string
	DeadLetters        string // ARN of the queue for failed messages, or ""
}

func (q Queue) FIFO() bool { return q.Attributes["FifoQueue"] == "true" }

var queueAttributes = []string{
	"FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit", "VisibilityTimeout",
	"MessageRetentionPeriod", "DelaySeconds", "MaximumMessageSize", "ReceiveMessageWaitTimeSeconds", "RedrivePolicy",
}

func readQueue(id, name string, properties map[string]any) (Queue, error) {
	q := Queue{ID: id, Name: name, Attributes: map[string]string{}}
	for _, attribute := range queueAttributes {
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

// Machine is a Step Functions state machine. Placeholders in its definition are already replaced.
type Machine struct {
	ID, Name, ARN string
	Type          string // STANDARD or EXPRESS
	Definition    string
}

func readMachine(id, name, dir string, properties map[string]any) (Machine, error) {
	var p struct {
		Type, DefinitionUri     string
		DefinitionSubstitutions map[string]any
	}
	m := Machine{ID: id, Name: name}
	if err := decode(properties, &p); err != nil {
		return m, err
	}
	m.Type = cmp.Or(p.Type, "STANDARD")
	text, err := os.ReadFile(filepath.Join(dir, p.DefinitionUri))
	if err != nil {
		return m, fmt.Errorf("DefinitionUri: %w", err)
	}
	m.Definition, err = define(string(text), p.DefinitionSubstitutions)
	return m, err
}

// define replaces the ${…} in a definition. It returns an error for a missing substitution and for a result that is not
// JSON, which AWS would detect only at deployment.
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
