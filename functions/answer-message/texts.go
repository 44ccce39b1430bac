package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/filetext"
	"ringi/shared/store/large"
)

// textWithin is how long the address of a file that is read is good, and how long its text is waited for: two tries.
const textWithin = 45 * time.Second

// texts implements Handler.Text by the function read-file, which gets the address of that one object. A file on which the
// function ends twice, since it takes too long or too much memory, would end it again; once may be chance.
func texts(cfg aws.Config, function string, kept large.Store,
) func(context.Context, aggregate.Ref, string, []byte) (filetext.Text, error) {
	api := lambda.NewFromConfig(cfg, func(o *lambda.Options) {
		o.HTTPClient = awshttp.NewBuildableClient() // an answer takes longer than AWS's services do
	})
	return func(ctx context.Context, ref aggregate.Ref, name string, file []byte) (text filetext.Text, err error) {
		ctx, cancel := context.WithTimeout(ctx, textWithin)
		defer cancel()
		address, err := kept.Lend(ctx, ref, file, textWithin)
		if err != nil {
			return text, err
		}
		order, err := json.Marshal(filetext.Order{Address: address, SHA256: aggregate.HashOf(string(file)), Name: name})
		if err != nil {
			return text, fmt.Errorf("order a text: %w", err)
		}
		in := &lambda.InvokeInput{FunctionName: &function, Payload: order}
		out, err := api.Invoke(ctx, in)
		if err == nil && out.FunctionError != nil {
			slog.WarnContext(ctx, "the reading of a file ended", "sha256", aggregate.HashOf(string(file)), "why",
				*out.FunctionError)
			out, err = api.Invoke(ctx, in)
		}
		switch {
		case err != nil:
			return text, fmt.Errorf("read a file: %w", err)
		case out.FunctionError != nil:
			return filetext.Text{Why: filetext.TooComplex}, nil
		}
		if err := json.Unmarshal(out.Payload, &text); err != nil || (text.Form == "") == (text.Why == "") {
			return text, fmt.Errorf("read a file: the answer can't be read: %w", err)
		}
		return text, nil
	}
}
