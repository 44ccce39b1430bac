package secret

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// ModelSecret has the deployment's keys for model vendors. None of them may be logged; printing a ModelSecret shows
// nothing.
type ModelSecret struct {
	Hidden
	Anthropic  string                   `json:"anthropic"`
	OpenAI     string                   `json:"openai"`
	Bedrock    string                   `json:"bedrock"` // only outside of AWS; inside, the function's role does
	Compatible map[string]ModelEndpoint `json:"compatible"`
	// Agents are the keys that definitions of agents refer to. The address with a key is the only one that it may be
	// sent to: https://host/v1, or the name of a vendor.
	Agents map[string]ModelEndpoint `json:"agents"`
}

// ModelEndpoint is the address of a compatible model and its key. Either may be empty.
type ModelEndpoint struct {
	Hidden
	URL string `json:"url"` // what chat/completions is put behind: https://host/v1
	Key string `json:"key"`
}

// modelSecretKeptFor is how long the secret is cached, so that running functions notice a replaced key.
const modelSecretKeptFor = 5 * time.Minute

// Models reads the model secret at its first use and caches it.
type Models struct {
	Reader Reader
	ID     string

	mu   sync.Mutex
	read time.Time
	kept ModelSecret
}

// ErrMalformed means that the secret exists but has the wrong form.
var ErrMalformed = errors.New(`it is not JSON such as {"anthropic":"sk-…","openai":"sk-…","compatible":{"name":{"url":"https://…","key":"…"}}}`)

// Get returns the secret, or ErrMalformed. Its errors never contain a value.
func (m *Models) Get(ctx context.Context) (ModelSecret, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.read.IsZero() && time.Since(m.read) < modelSecretKeptFor {
		return m.kept, nil
	}
	if m.ID == "" {
		return ModelSecret{}, errors.New("read the model secret: MODEL_SECRET_ID is empty")
	}
	out, err := m.Reader.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &m.ID})
	if err != nil {
		return ModelSecret{}, fmt.Errorf("read the model secret: %w", err)
	}
	var s ModelSecret
	if json.Unmarshal([]byte(aws.ToString(out.SecretString)), &s) != nil { // the error would quote the secret
		return ModelSecret{}, fmt.Errorf("read the model secret: %w", ErrMalformed)
	}
	m.kept, m.read = s, time.Now()
	return s, nil
}

// Forget makes the next Get read the secret again, because a key was refused or missing.
func (m *Models) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read = time.Time{}
}
