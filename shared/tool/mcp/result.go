package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/shared/explain/failedcall"
	"ringi/shared/tool/wire"
)

// result is a call's result. The structured content is taken from the answer's bytes,
// because the library's decoded copy has lost digits of large numbers.
func result(p failedcall.Provider, answer *sdk.CallToolResult, r *record, declares bool) (any, error) {
	said := textOf(answer.Content)
	if answer.NeedsInput() {
		return nil, &failedcall.Error{Outcome: failedcall.Failed, Problem: failedcall.ProblemRejected,
			Args: []any{p, "input_required " + wire.Short(said)}, Err: errors.New("the tool asks for more input")}
	}
	if answer.IsError {
		return nil, &failedcall.Error{Outcome: failedcall.Failed, Problem: failedcall.ProblemRejected,
			Args: []any{p, wire.Short(said)}, Err: errors.New("the tool reports an error")}
	}
	if m, ok := r.response(); declares && ok && m.Result != nil && len(m.Result.StructuredContent) > 0 {
		return m.Result.StructuredContent, nil
	}
	return map[string]string{"text": said}, nil
}

// textOf joins the texts of a result; other content is replaced by the name of its type.
func textOf(parts []sdk.Content) string {
	var said []string
	for _, part := range parts {
		switch part := part.(type) {
		case *sdk.TextContent:
			said = append(said, part.Text)
		case *sdk.ResourceLink:
			said = append(said, part.URI)
		case *sdk.EmbeddedResource:
			if part.Resource != nil {
				said = append(said, part.Resource.URI, part.Resource.Text)
			}
		case *sdk.ImageContent:
			said = append(said, binary("image", part.MIMEType, len(part.Data)))
		case *sdk.AudioContent:
			said = append(said, binary("audio", part.MIMEType, len(part.Data)))
		default:
			kind, _ := json.Marshal(fmt.Sprintf("%T", part))
			said = append(said, string(kind))
		}
	}
	return strings.Join(said, "\n")
}

func binary(kind, mime string, bytes int) string {
	return fmt.Sprintf("[%s %s, %d bytes]", kind, mime, bytes)
}
