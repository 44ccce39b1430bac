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

// ModelSecret is what the vendors of models gave the deployment. No key of it may
// be logged; printing one shows nothing.
type ModelSecret struct {
	Hidden
	Anthropic  string                   `json:"anthropic"`
	OpenAI     string                   `json:"openai"`
	Bedrock    string                   `json:"bedrock"` // only outside of AWS; inside, the function's role does
	Compatible map[string]ModelEndpoint `json:"compatible"`
	// Agents are the keys that definitions of agents name. The address beside one is where it may go: https://host/v1, or
	// the name of a vendor.
	Agents map[string]ModelEndpoint `json:"agents"`
}

// ModelEndpoint is where a compatible model is, and the key to it; either may be empty.
type ModelEndpoint struct {
	Hidden
	URL string `json:"url"` // what chat/completions is put behind: https://host/v1
	Key string `json:"key"`
}

// modelSecretKeptFor is how long a value that was read is used before it is read again, so that
// running functions learn of a replaced key.
const modelSecretKeptFor = 5 * time.Minute

// Models reads the model secret at its first use, and keeps it for a while.
type Models struct {
	Reader Reader
	ID     string

	mu   sync.Mutex
	read time.Time
	kept ModelSecret
}

// ErrMalformed is a secret that is there, but not in the form that is wanted.
var ErrMalformed = errors.New(`it is not JSON such as {"anthropic":"sk-…","openai":"sk-…","compatible":{"name":{"url":"https://…","key":"…"}}}`)

// Get returns the secret, or ErrMalformed. Its errors never hold a value.
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

// Forget makes the next Get read anew: the key was refused, or was not there.
func (m *Models) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read = time.Time{}
}
