package boot

import (
	"fmt"
	"os"
	"reflect"
	"strings"
)

// Table is the configuration of every function.
type Table struct {
	TableName string `env:"TABLE_NAME" doc:"the table of all rows"`
}

// Slack is for functions that call Slack or are called by it.
type Slack struct {
	SlackSecretID string `env:"SLACK_SECRET_ID" doc:"the secret with the signing secret and the bot's token"`
	// In the local stack each function has its own address of the proxy to Slack.
	SlackAPIURL string `env:"SLACK_API_URL,optional" doc:"where Slack is, unless the secret says so; only the local stack sets it"`
}

// Credentials is for functions that open or seal tenants' credentials.
type Credentials struct {
	CredentialsKeyID string `env:"CREDENTIALS_KEY_ID" doc:"the key that seals the vendors' credentials"`
}

// Models is for functions that call a model.
type Models struct {
	Model         string `env:"MODEL,optional" doc:"the model, in place of that of a workspace's settings"`
	ModelSecretID string `env:"MODEL_SECRET_ID" doc:"the secret with the keys of models"`
	AnthropicURL  string `env:"ANTHROPIC_BASE_URL" doc:"where Anthropic's API is, without /v1"`
	OpenAIURL     string `env:"OPENAI_BASE_URL" doc:"where OpenAI's API is, with /v1"`
	BedrockURL    string `env:"BEDROCK_BASE_URL,optional" doc:"where Amazon Bedrock's runtime is, in place of the region's"`
	// Endpoints outside of the public internet, with commas between. Only the local stack sets any.
	OutboundAllow string `env:"OUTBOUND_ALLOW,optional" doc:"inner addresses that may be called, as host:port"`
}

// Vendors is for functions that call tools.
type Vendors struct {
	FreeeTokenURL  string `env:"FREEE_TOKEN_URL" doc:"where freee's access tokens are renewed"`
	GoogleTokenURL string `env:"GOOGLE_TOKEN_URL" doc:"where Google's access tokens are renewed"`
	FreeeAPIURL    string `env:"FREEE_API_URL" doc:"freee's API, up to and including /hr"`
	SheetsAPIURL   string `env:"SHEETS_API_URL" doc:"Google Sheets' API, without /v4"`
}

// Spending is for functions that spend a tenant's money.
type Spending struct {
	FurtherDailyUSD string `env:"FURTHER_TENANT_DAILY_USD" doc:"what a further workspace may cost on a day, in US dollars, above 0"`
}

// Results is for functions that read or store large values.
type Results struct {
	ResultsBucket string `env:"RESULTS_BUCKET" doc:"the bucket of values too large for a row"`
}

// Effects is for functions that start runs and request redraws of cards.
type Effects struct {
	ChatARN         string `env:"CHAT_ARN" doc:"the state machine of conversations with agents"`
	ContestARN      string `env:"CONTEST_ARN" doc:"the state machine of contests"`
	StateMachineARN string `env:"STATE_MACHINE_ARN" doc:"the pipeline"`
	CardQueueURL    string `env:"CARD_QUEUE_URL" doc:"the queue of cards to draw"`
}

// Read fills a struct from the variables named in env tags of its fields, including embedded structs. Its error names
// all missing variables; an empty variable counts as missing unless it is optional.
func Read(into any) error {
	if missing := read(reflect.ValueOf(into).Elem()); len(missing) > 0 {
		return fmt.Errorf("environment variables are missing: %s", strings.Join(missing, ", "))
	}
	return nil
}

func read(v reflect.Value) (missing []string) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			missing = append(missing, read(v.Field(i))...)
			continue
		}
		name, option, _ := strings.Cut(field.Tag.Get("env"), ",")
		value := os.Getenv(name)
		if value == "" && option != "optional" {
			missing = append(missing, name)
		}
		v.Field(i).SetString(value)
	}
	return missing
}
