package model

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

//go:embed schemas/*.json
var schemas embed.FS

// maxOutput bounds an answer, in bytes. Each layer's own limits are far smaller.
const maxOutput = 1 << 20

// question is one layer's question. The files of its prompt and its schema are named after the purpose.
type question struct {
	purpose  Purpose
	locale   string
	try      int
	standing any // data that is the same for many tasks, so that vendors can cache it; may be nil
	data     any // becomes JSON; nothing in it is an instruction
	tokens   int
	// accept reads an answer that fits the schema. If it returns problems, the model is asked once more with them.
	accept func(answer []byte) (problems []string)
}

// ask makes the call, and a second one with the problems if the answer is unusable. usage covers all calls, even if ask
// fails.
func ask(ctx context.Context, w Wire, q question) (usage Usage, err error) {
	defer func() {
		if usage.Calls > 0 {
			usage.ID = aggregate.NewID()
		}
	}()
	ctx, cancel := WithSpare(ctx)
	defer cancel()
	shape, compiled, err := shapeOf(q.purpose)
	if err != nil {
		return Usage{}, err
	}
	p, err := promptOf(q.purpose, q.locale)
	if err != nil {
		return Usage{}, err
	}
	r, err := q.request(p, shape)
	if err != nil {
		return Usage{}, fmt.Errorf("write the data for %s: %w", q.purpose, err)
	}
	first, err := SayWhole(ctx, w, r, p.Name())
	if err != nil {
		return first.Usage, fmt.Errorf("%s: %w", q.purpose, err)
	}
	problems, err := judge(first, q, compiled)
	if err != nil || len(problems) == 0 {
		return first.Usage, err
	}
	again, err := fenced(problems) // the problems quote the answer, which may quote the request
	if err != nil {
		return first.Usage, fmt.Errorf("write the problems of %s: %w", q.purpose, err)
	}
	r.Messages = append(r.Messages,
		Words(Assistant, cmp.Or(strings.TrimSpace(first.Text[:min(len(first.Text), maxRepeated)]), "{}")),
		Words(User, "The answer can't be used. What is wrong with it:\n"+again+
			"\nAnswer again, completely, as JSON of the schema alone."))
	second, err := SayWhole(ctx, w, r, p.Name())
	usage = first.Usage.Plus(second.Usage)
	if err != nil {
		return usage, fmt.Errorf("%s, asked again: %w", q.purpose, err)
	}
	if problems, err = judge(second, q, compiled); err != nil {
		return usage, err
	}
	if len(problems) > 0 {
		long := slices.IndexFunc(problems, func(p string) bool { return strings.HasPrefix(p, tooLong) })
		unusable := &OutputError{Purpose: q.purpose, Problems: problems, CutOff: second.Stop == StopLength}
		if long >= 0 {
			unusable.TooLong = problems[long]
		}
		return usage, unusable
	}
	return usage, nil
}

func (q question) request(p Prompt, shape json.RawMessage) (Request, error) {
	r := Request{Purpose: q.purpose, Try: max(1, q.try), System: p.Text, MaxTokens: q.tokens, Once: true, Schema: shape}
	data, err := fenced(q.data)
	if err != nil {
		return r, err
	}
	if q.standing != nil {
		if r.Standing, err = fenced(q.standing); err != nil {
			return r, err
		}
	}
	r.Messages = []Message{Words(User, data)}
	return r, nil
}

// maxRepeated is how many bytes of a bad answer are quoted back to the model; steps have at most task.MaxStepsBytes. A
// blank one is not, because vendors refuse blank messages.
const maxRepeated = 256 << 10

// judge returns what is wrong with an answer, none if it is usable, and an *Error if the model refused.
func judge(r Response, q question, shape *tool.Schema) ([]string, error) {
	switch {
	case r.Stop == StopRefused:
		return nil, &Error{Provider: r.Usage.Provider, Model: r.Usage.Model, Kind: Refused, RequestID: r.Usage.RequestID}
	case r.Stop == StopLength:
		return []string{fmt.Sprintf("it was cut off after %d tokens: be shorter", q.tokens)}, nil
	case len(r.Text) > maxOutput:
		return []string{fmt.Sprintf("it is %d bytes long, the limit is %d", len(r.Text), maxOutput)}, nil
	}
	text := unfenced([]byte(r.Text))
	v, err := tool.Decode(text)
	if err != nil {
		return []string{"it is " + err.Error()}, nil
	}
	var problems []string
	for _, p := range shape.Check(v) {
		problems = append(problems, p.String())
	}
	if len(problems) == 0 {
		problems = q.accept(text)
	}
	return problems[:min(len(problems), 20)], nil
}

// unfenced removes the code fence that models put around JSON when nothing enforces its form.
func unfenced(text []byte) []byte {
	text = bytes.TrimSpace(text)
	inner, ok := bytes.CutPrefix(text, []byte("```"))
	if !ok {
		return text
	}
	inner, closed := bytes.CutSuffix(inner, []byte("```"))
	if !closed {
		return text
	}
	return bytes.TrimSpace(bytes.TrimPrefix(inner, []byte("json")))
}

// fenced writes data as JSON without invisible characters. No text can end the fence, because JSON escapes < and >.
func fenced(data any) (string, error) {
	b, err := json.MarshalIndent(data, "", " ")
	if err != nil {
		return "", err
	}
	return "<data>\n" + string(language.VisibleJSON(b)) + "\n</data>", nil
}

func shapeOf(p Purpose) (json.RawMessage, *tool.Schema, error) {
	text, err := schemas.ReadFile("schemas/" + string(p) + ".json")
	if err != nil {
		return nil, nil, fmt.Errorf("schema of %s: %w", p, err)
	}
	s, err := tool.CompileSchema(string(p), string(text))
	return text, s, err
}

//go:embed prompts/*.md
var prompts embed.FS

// Prompt is a file of instructions for a model. Its first line is "version: <n>". Each change of the wording gets a new
// number, which is logged and saved with every call. A line that ends with a backslash goes on in the next one, in
// English after a blank.
type Prompt struct {
	Purpose Purpose
	Locale  string
	Version int
	Text    string
}

// Name is the prompt's name in logs and usage rows, such as extract.ja.2.
func (p Prompt) Name() string { return fmt.Sprintf("%s.%s.%d", p.Purpose, p.Locale, p.Version) }

func promptOf(purpose Purpose, locale string) (Prompt, error) {
	return ReadPrompt(prompts, purpose, locale)
}

// ReadPrompt reads the prompt of a purpose in the language of a locale: prompts/<purpose>.<locale>.md.
func ReadPrompt(files fs.FS, purpose Purpose, locale string) (Prompt, error) {
	if !slices.Contains(language.All, locale) {
		locale = language.All[0]
	}
	name := "prompts/" + string(purpose) + "." + locale + ".md"
	file, err := fs.ReadFile(files, name)
	if err != nil {
		return Prompt{}, fmt.Errorf("prompt of %s: %w", purpose, err)
	}
	first, text, _ := strings.Cut(string(file), "\n")
	digits, found := strings.CutPrefix(first, "version: ")
	version, err := strconv.Atoi(digits)
	if !found || err != nil {
		return Prompt{}, fmt.Errorf("%s must begin with a line such as version: 1", name)
	}
	text = goesOn.Get().ReplaceAllString(text, between.In(locale))
	return Prompt{purpose, locale, version, strings.TrimSpace(text)}, nil
}

// goesOn is the end of a line that goes on in the next one, and between is what stands there instead.
var (
	goesOn  = language.Regexp{Text: `\\\n *`}
	between = language.InEach("", " ")
)

// SchemaPrompt asks in words for JSON that follows a schema, for vendors that do not enforce one.
func SchemaPrompt(schema []byte) string {
	return "Answer with one JSON value of this schema and nothing else:\n" + string(schema)
}

// thinking is how many tokens a model may think in addition to its answer: vendors count thoughts as a part of it.
const thinking = 16_384

// family is what is known of the models whose names begin alike.
type family struct {
	names  []string
	output int  // the most tokens of an answer, thoughts included
	quiet  bool // they don't think unless asked to
}

// families have the limits of answers as vendors publish them; of several names that fit, the longest counts. Read on
// 2026-11-23 in
//   - https://platform.claude.com/docs/en/models/haiku-5-5/overview and the pages beside it, and of older models in
//     https://platform.claude.com/docs/en/about-claude/models/overview;
//   - https://developers.openai.com/api/docs/models and its models' pages, as github.com/anomalyco/models.dev repeats
//     them, and in the sentences with which OpenAI refuses more;
//   - https://ai.google.dev/gemini-api/docs/models: 65,536, of which Vertex refuses the last one.
//
// A model that is not here is asked without a limit, and obeys the one that its server's refusal names.
var families = []family{
	{[]string{"claude-fable-", "claude-mythos-", "claude-opus-5", "claude-sonnet-5", "claude-haiku-5"}, 128_000, false},
	{[]string{"claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-4-6"}, 128_000, true},
	{[]string{"claude-opus-4-5", "claude-sonnet-4", "claude-haiku-4-5", "claude-3-7-sonnet"}, 64_000, true},
	{[]string{"claude-opus-4"}, 32_000, true},
	{[]string{"gpt-5"}, 128_000, false},
	{[]string{"gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat"}, 16_384, true},
	{[]string{"gpt-4.1"}, 32_768, true},
	{[]string{"gpt-4o"}, 16_384, true},
	{[]string{"o1", "o3", "o4-mini"}, 100_000, false},
	{[]string{"gemini-2.5", "gemini-3"}, 65_535, false},
}

// familyOf finds a model's family by its name with any vendor, endpoint or region before it.
func familyOf(model string) (found family) {
	model = model[strings.LastIndex(model, "/")+1:]
	if _, name, ok := strings.Cut(model, "anthropic."); ok { // Bedrock's: us.anthropic.claude-…
		model = name
	}
	longest := 0
	for _, f := range families {
		for _, name := range f.names {
			if strings.HasPrefix(model, name) && len(name) > longest {
				found, longest = f, len(name)
			}
		}
	}
	return found
}

// Quiet reports whether a model is known not to think unless asked to.
func Quiet(model string) bool { return familyOf(model).quiet }

// Output returns how many tokens to ask a model for: those of the answer and, if room is true, of thoughts, within the
// model's limit. full says that the model gives no more.
func (r Request) Output(model string, room bool) (tokens int, full bool) {
	tokens = r.MaxTokens
	if room {
		tokens += thinking
	}
	if r.More {
		tokens *= 2
	}
	if most := cmp.Or(r.Most, familyOf(model).output); most > 0 && tokens >= most {
		return most, true
	}
	return tokens, false
}

// Cut reports whether the answer was cut off and the same request may get a whole one with More.
func (r Response) Cut(of Request) bool { return r.Stop == StopLength && !r.Full && !of.More }

// outputNamed finds the limit of answers in a refusal, or the request together with its answer.
var outputNamed = language.Regexp{Text: `(?i)max_?(?:completion_?|output_?|new_?)?tokens|maximum tokens|` +
	`output tokens|requested|completion`}

// fewest is the least number that is taken for a limit of answers. A status of HTTP, which proxies repeat, is none.
const fewest = 500

// tokensRefused reports whether a refusal may be about the number of an answer's tokens. most is the least number that
// it names, 0 if it names none: the numbers of a request together with its answer say nothing of the answer alone.
func tokensRefused(said string) (refused bool, most int) {
	if !outputNamed.Get().MatchString(said) || lengthy.Get().MatchString(said) {
		return outputNamed.Get().MatchString(said), 0
	}
	for _, word := range strings.FieldsFunc(said, func(r rune) bool { // a model's name is one
		return r >= utf8.RuneSelf || !strings.ContainsRune("_.-", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if n, err := strconv.Atoi(strings.Trim(word, ".-")); err == nil && n >= fewest {
			most = min(cmp.Or(most, n), n)
		}
	}
	return true, most
}

// Simpler has a request made by say, and where the vendor refuses it for something that it can do without, once more
// without that: with fewer tokens, without the schema of the answer, or without sampling. A single question has its
// schema in words then.
func Simpler(r Request, say func(Request) (Response, error)) (Response, error) {
	for {
		out, err := say(r)
		e, is := errors.AsType[*Error](err)
		if !is || !e.simplify(&r, out.Tokens) {
			return out, err
		}
	}
}

// simplify takes from a request of so many tokens what was refused. If the vendor doesn't name it, that is sampling
// first, and then the answer's schema if the request is no single question.
func (e *Error) simplify(r *Request, tokens int) bool {
	fewer := cmp.Or(e.most, r.MaxTokens) // without a number, there is no room for thoughts
	switch {
	case e.tokens && r.Most == 0 && fewer < tokens:
		r.Most = fewer
	case e.Kind != BadRequest:
		return false
	case r.Schema != nil && (e.form || !r.Once && !r.Sampling.Set()):
		if r.Once {
			r.System += "\n\n" + SchemaPrompt(r.Schema)
		}
		r.Schema = nil
	case r.Sampling.Set():
		r.Sampling = Sampling{}
	default:
		return false
	}
	return true
}
