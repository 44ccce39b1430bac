package bedrock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	smithydocument "github.com/aws/smithy-go/document"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
	"ringi/shared/tool/schema"
)

// form selects optional parts of a request that some models don't support: cache points, an answer's schema, sampling.
type form struct{ marked, formed, sampled bool }

// simpler drops the part that the model refused: the one that it names, in Converse's words or in those of the vendor
// behind it, else sampling and cache points, and then the schema. It reports false when none is left.
func (f form) simpler(refused *types.ValidationException) (form, bool) {
	why := refused.ErrorMessage()
	switch {
	case f.formed && model.FormRefused(why):
		f.formed = false
	case f.marked && strings.Contains(why, "cachePoint"):
		f.marked = false
	case f.sampled:
		return form{formed: f.formed}, true
	case f.marked || f.formed:
		return form{}, true
	default:
		return f, false
	}
	return f, true
}

// input translates a request. Cache points follow the rules and Standing, and in a conversation also the last message
// without its passing parts, since the next call begins with the same messages. A single question that is sent without its schema has the schema
// in words.
func (c *Client) input(r model.Request, f form, tokens int) (*bedrockruntime.ConverseInput, error) {
	mark := types.CachePointBlock{Type: types.CachePointTypeDefault}
	system := r.System
	if r.Once && !f.formed {
		system += "\n\n" + model.SchemaPrompt(r.Schema)
	}
	in := &bedrockruntime.ConverseInput{
		ModelId: &c.config.Model, System: []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: system}},
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(tokens))},
	}
	if f.marked {
		in.System = append(in.System, &types.SystemContentBlockMemberCachePoint{Value: mark})
	}
	if f.sampled {
		sample(in.InferenceConfig, r.Sampling)
	}
	if f.formed {
		in.OutputConfig = &types.OutputConfig{TextFormat: &types.OutputFormat{
			Type: types.OutputFormatTypeJsonSchema,
			Structure: &types.OutputFormatStructureMemberJsonSchema{Value: types.JsonSchemaDefinition{
				Name: aws.String("answer"), Schema: aws.String(string(r.Schema)),
			}},
		}}
	}
	for i, m := range r.Messages {
		turn := types.Message{Role: types.ConversationRole(m.Role)}
		if i == 0 && r.Standing != "" {
			turn.Content = append(turn.Content, &types.ContentBlockMemberText{Value: r.Standing})
			if f.marked {
				turn.Content = append(turn.Content, &types.ContentBlockMemberCachePoint{Value: mark})
			}
		}
		blocks, err := c.blocksOf(r, i)
		if err != nil {
			return nil, err
		}
		if n := m.Lasting(); f.marked && !r.Once && i == len(r.Messages)-1 && n > 0 {
			blocks = slices.Insert(blocks, n, types.ContentBlock(&types.ContentBlockMemberCachePoint{Value: mark}))
		}
		turn.Content = append(turn.Content, blocks...)
		in.Messages = append(in.Messages, turn)
	}
	return in, c.offer(in, r.Tools)
}

// offer adds the tools. Bedrock has no option to allow only one call at a time.
func (c *Client) offer(in *bedrockruntime.ConverseInput, tools []model.Tool) error {
	if len(tools) == 0 {
		return nil
	}
	vendor := schema.Nova
	if c.claude() {
		vendor = schema.Anthropic
	}
	in.ToolConfig = &types.ToolConfiguration{}
	for _, t := range model.Takeable(tools, vendor) {
		v, err := schema.Decode(t.Schema)
		if err != nil {
			return fmt.Errorf("read the schema of %s: %w", t.Name, err)
		}
		if top, is := v.(map[string]any); is && vendor == schema.Nova {
			v = schema.Plain(top)
		}
		shape := document.NewLazyDocument(numbered(v))
		in.ToolConfig.Tools = append(in.ToolConfig.Tools, &types.ToolMemberToolSpec{Value: types.ToolSpecification{
			Name: aws.String(t.Name), Description: aws.String(t.Description),
			InputSchema: &types.ToolInputSchemaMemberJson{Value: shape},
		}})
	}
	return nil
}

// sample sets the sampling. Converse has no seed, and its highest temperature is 1.
func sample(in *types.InferenceConfiguration, s model.Sampling) {
	in.StopSequences = s.StopSequences
	if s.Temperature != nil {
		in.Temperature = aws.Float32(float32(min(*s.Temperature, 1)))
	}
	if s.TopP != nil {
		in.TopP = aws.Float32(float32(*s.TopP))
	}
}

// from names where thoughts come from: the model, and all that it was asked before, which their signatures cover.
func (c *Client) from(r model.Request, index int) string {
	return aggregate.Bedrock + " " + c.config.Model + " " + r.Before(index)
}

// thoughtsOn returns the thoughts before a call.
func thoughtsOn(call *model.Call, from string) (blocks []types.ContentBlock) {
	var thoughts []model.Thought
	if !call.Opaque.Read(from, &thoughts) {
		return nil
	}
	for _, t := range thoughts {
		var value types.ReasoningContentBlock = &types.ReasoningContentBlockMemberRedactedContent{Value: t.Sealed}
		if len(t.Sealed) == 0 {
			text := types.ReasoningTextBlock{Text: aws.String(t.Text)}
			if t.Signature != "" {
				text.Signature = aws.String(t.Signature)
			}
			value = &types.ReasoningContentBlockMemberReasoningText{Value: text}
		}
		blocks = append(blocks, &types.ContentBlockMemberReasoningContent{Value: value})
	}
	return blocks
}

// blocksOf translates the message with this index. The thoughts before the first call begin the message, as the
// vendor has them.
func (c *Client) blocksOf(r model.Request, index int) (blocks []types.ContentBlock, err error) {
	called, from := false, ""
	for _, part := range r.Messages[index].Parts {
		switch {
		case part.Call != nil:
			if part.Call.Opaque != nil {
				from = cmp.Or(from, c.from(r, index))
			}
			called, blocks = true, model.Ahead(blocks, thoughtsOn(part.Call, from), called)
			input, err := documentOf(part.Call.Object())
			if err != nil {
				return nil, fmt.Errorf("read the input of %s: %w", part.Call.Name, err)
			}
			blocks = append(blocks, &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
				ToolUseId: aws.String(part.Call.ID), Name: aws.String(part.Call.Name), Input: input,
			}})
		case part.Result != nil:
			result := types.ToolResultBlock{
				ToolUseId: aws.String(part.Result.CallID),
				Content:   []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: part.Result.Text}},
			}
			if part.Result.Failed { // left out for a success: not every model knows the status
				result.Status = types.ToolResultStatusError
			}
			blocks = append(blocks, &types.ContentBlockMemberToolResult{Value: result})
		case part.Image != nil:
			blocks = append(blocks, &types.ContentBlockMemberImage{Value: types.ImageBlock{
				Format: types.ImageFormat(strings.TrimPrefix(part.Image.Type, "image/")),
				Source: &types.ImageSourceMemberBytes{Value: part.Image.Data},
			}})
		default:
			blocks = append(blocks, &types.ContentBlockMemberText{Value: part.Text})
		}
	}
	return blocks, nil
}

func documentOf(text json.RawMessage) (document.Interface, error) {
	v, err := schema.Decode(text)
	return document.NewLazyDocument(numbered(v)), err
}

// numbered replaces the numbers in a decoded value by the SDK's, which keep their digits.
func numbered(v any) any {
	switch v := v.(type) {
	case json.Number:
		return smithydocument.Number(v)
	case []any:
		for i := range v {
			v[i] = numbered(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = numbered(v[name])
		}
	}
	return v
}
