package stack

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/runtime/secret"
	"ringi/shared/slack/slackapi/inbound"
)

// unsigned is the signature of a sample request: only zeros.
var unsigned = "v0=" + strings.Repeat("0", 64)

// sign gives a sample request the current time and a valid signature for the deployment at endpoint. It returns any
// other event unchanged.
func sign(ctx context.Context, endpoint, secretID string, event []byte) ([]byte, error) {
	var request map[string]any
	if secretID == "" || json.Unmarshal(event, &request) != nil {
		return event, nil
	}
	headers, _ := request["headers"].(map[string]any)
	if headers["x-slack-signature"] != unsigned {
		return event, nil
	}
	text, _ := request["body"].(string)
	body := []byte(text)
	if encoded, _ := request["isBase64Encoded"].(bool); encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, fmt.Errorf("sign the event: body: %w", err)
		}
	}
	key, err := (&secret.Slack{Reader: secretsmanager.NewFromConfig(config(endpoint)), ID: secretID,
		Now: time.Now}).SigningSecret(ctx)
	if err != nil {
		return nil, fmt.Errorf("sign the event: %w", err)
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	headers["x-slack-request-timestamp"], headers["x-slack-signature"] = stamp, inbound.Sign(stamp, body, key)
	return json.Marshal(request)
}
