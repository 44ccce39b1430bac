package model

import (
	"encoding/json"
	"regexp"
	"ringi/shared/words/language"
	"slices"
	"strings"
)

// spelling is how models of a family write a call, which stands in the text where their server does not read it.
type spelling struct {
	mark    string
	follows string // a pattern of what follows the mark, in which NAME is a tool's name
}

// What follows any mark: JSON that has a tool's name near its beginning, as its first member or behind the arguments.
const (
	object = `^\s*\[?\s*\{`
	member = `["'](?:tool_)?name["']\s*:\s*["']NAME["']`
	near   = 1000 // bytes
)

// spellings are those that were published, by the families' templates or by who met them in texts.
var spellings = []spelling{
	// Hermes, Qwen; GLM, Hunyuan
	{"<tool_call>", `\s*NAME\s*<(?:arg_key|tool_sep|/tool_call)>`},
	// Jamba, Hunyuan, MiniMax; Nemotron; LongCat; Granite, Phi; Phi, FireFunction; Cohere; InternLM
	{"<tool_calls>", ""}, {"<toolcall>", ""}, {"<longcat_tool_call>", ""}, {"<|tool_call|>", ""}, {"functools[", ""},
	{"<|start_action|>", ""}, {"<|plugin|>", ""},
	// Gemma, FunctionGemma
	{"<|tool_call>", `\s*call:NAME\{`}, {"<start_function_call>", `\s*call:NAME\{`},
	// Llama; Qwen Coder, Seed
	{"<function=", `NAME>\s*(?:\{|<parameter=|</function>)`},
	// Llama, LFM, Olmo
	{"<|python_tag|>", `\s*\[?NAME(?:\.call)?\(`}, {"<|python_start|>", `\s*\[?NAME\(`},
	{"<|tool_call_start|>", `\s*\[?NAME\(`}, {"<function_calls>", `\s*NAME\(`},
	// Mistral, Apertus, Solar
	{"[tool_calls]", `\s*NAME(?:\[CALL_ID\][^\[\s]*)?(?:\[ARGS\])?\s*\{`},
	{"<|tools_prefix|>", `\s*\[\s*\{\s*"NAME"\s*:`}, {"<|tool_call:name|>", `NAME<\|tool_call:args\|>`},
	// DeepSeek, older and newer
	{"<｜tool▁call▁begin｜>", `\s*(?:function<｜tool▁sep｜>NAME\s|NAME<｜tool▁sep｜>)`},
	// Kimi
	{"<|tool_call_begin|>", `\s*(?:functions\.)?NAME(?::\d+)?\s*<\|tool_call_argument_begin\|>`},
	// MiniMax, Step, the newest DeepSeek, Anthropic's older form; Grok
	{"invoke name=", `"NAME"\s*>\s*(?:<|$)`}, {"function_call name=", `"NAME"\s*>\s*(?:<|$)`},
	// gpt-oss
	{" to=functions.", `NAME\b\s*(?:<\|channel\|>\w+\s*)?(?:<\|constrain\|>)?\w*\s*(?:<\|message\|>|\{)`},
}

// called reports whether a text has a call of one of the tools, or is nothing but one. One in code or in a quote is
// spoken of.
func called(text string, tools []Tool) bool {
	if len(tools) == 0 {
		return false
	}
	low := lower(text)
	var code [][]int
	for _, s := range spellings {
		var follows func(rest string) bool
		for from := 0; ; {
			i := strings.Index(low[from:], s.mark)
			if i < 0 {
				break
			}
			mark := from + i
			if from = mark + len(s.mark); follows == nil {
				follows = s.calls(tools)
			}
			if follows(text[from:]) && !inCode(text, &code, mark, true) && !inQuote(text, begin(text, mark)) {
				return true
			}
		}
	}
	return onlyCalls(strings.TrimFunc(text, space), tools)
}

// calls returns what tells whether a call of one of the tools follows a mark.
func (s spelling) calls(tools []Tool) func(rest string) bool {
	begins, named := regexp.MustCompile(object), regexp.MustCompile(withNames(member, tools))
	own := regexp.MustCompile("^(?:" + withNames(s.follows, tools) + ")")
	return func(rest string) bool {
		return s.follows != "" && own.MatchString(rest) ||
			begins.MatchString(rest) && named.MatchString(rest[:min(len(rest), near)])
	}
}

// withNames returns a pattern with the tools' names.
func withNames(pattern string, tools []Tool) string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = regexp.QuoteMeta(t.Name)
	}
	return strings.ReplaceAll(pattern, "NAME", "(?:"+strings.Join(names, "|")+")")
}

// before is what stands before a mark and belongs to its call: tags that open, with words behind them, and the
// beginning of the mark's own tag or word.
var before = language.Regexp{Text: `(?:<[^<>/\n]{1,40}>\w{0,20}\s*)*(?:<[^<>\s]{0,30}|\w{1,20})?$`}

// begin returns where the call begins whose mark is there.
func begin(text string, mark int) int {
	from := max(0, mark-near)
	return from + before.Get().FindStringIndex(text[from:mark])[0]
}

// inQuote reports whether a place is quoted: behind a quotation mark, in a quotation that began in its line, in a line
// that begins with >, or in code that is indented.
func inQuote(text string, at int) bool {
	line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	if strings.HasPrefix(strings.TrimLeft(line, " \t"), ">") {
		return true
	}
	line = line[max(0, len(line)-near):]
	open := rune(0)
	for _, r := range line {
		switch {
		case strings.ContainsRune("„“「『«", r) && open == 0:
			open = r
		case strings.ContainsRune("“”」』»", r):
			open = 0
		}
	}
	return open != 0 || strings.Count(line, `"`)%2 == 1 || strings.HasSuffix(line, "'") || indented(text, at)
}

// indented reports whether a place is in lines that are indented as code, behind an empty one.
func indented(text string, at int) bool {
	for end := at; ; {
		begin := strings.LastIndexByte(text[:end], '\n') + 1
		line := text[begin:end]
		switch {
		case end < at && strings.TrimSpace(line) == "", at-begin > 10*near: // so much is code
			return true
		case begin == 0 || !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "\t"):
			return false
		}
		end = begin - 1
	}
}

// spelled reports whether a call may begin in a text, or in what its last piece completes.
func spelled(text string, piece int) bool {
	const longest = 40
	end := lower(text[max(0, len(text)-piece-longest):])
	return slices.ContainsFunc(spellings, func(s spelling) bool { return strings.Contains(end, s.mark) })
}

// opens reports whether a text may become one that is nothing but a call.
func opens(text string, tools []Tool) bool {
	text = strings.TrimLeftFunc(text, space)
	listed := strings.TrimLeftFunc(strings.TrimPrefix(text, "["), space)
	if len(tools) == 0 {
		return false
	}
	return listed == "" || listed[0] == '{' || slices.ContainsFunc(tools, func(t Tool) bool {
		rest, named := strings.CutPrefix(listed, t.Name)
		rest = strings.TrimSpace(rest)
		return strings.HasPrefix(t.Name, listed) || named && (rest == "" || rest[0] == '(' || rest[0] == '{')
	})
}

// pythonic is a call, or a list of them, as of a function in Python (Llama, Gemma, Olmo).
const pythonic = `^\[?NAME\((?:\)|\w+\s*=)(?s:.*)\)\]?$`

// onlyCalls reports whether a text is nothing but calls: JSON of Llama, Qwen Coder or xLAM without a mark, a tool's
// name in the line before its arguments (GLM), or Python. JSON counts only if the tool has one of its arguments, since
// it may also describe the tool.
func onlyCalls(text string, tools []Tool) bool {
	for _, t := range tools {
		if rest, named := strings.CutPrefix(text, t.Name); named && strings.HasPrefix(strings.TrimLeft(rest, " "), "\n") {
			return t.takes(json.RawMessage(rest))
		}
	}
	if regexp.MustCompile(withNames(pythonic, tools)).MatchString(text) {
		return true
	}
	found := false
	for text = closed(text); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["); {
		var value json.RawMessage
		dec := json.NewDecoder(strings.NewReader(text))
		if dec.Decode(&value) != nil {
			return false
		}
		found = found || isCall(value, tools)
		text = strings.TrimLeft(text[dec.InputOffset():], " \t\r\n;,") // Llama writes ; between them
	}
	return found && text == ""
}

// isCall reports whether JSON is a call of one of the tools, or has one in a list.
func isCall(value json.RawMessage, tools []Tool) bool {
	var all []json.RawMessage
	if json.Unmarshal(value, &all) == nil {
		return slices.ContainsFunc(all, func(v json.RawMessage) bool { return isCall(v, tools) })
	}
	var x struct {
		Name       any
		ToolName   any `json:"tool_name"`
		Function   json.RawMessage
		Arguments  json.RawMessage
		Parameters json.RawMessage
	}
	if json.Unmarshal(value, &x) != nil {
		return false
	}
	if len(x.Function) > 0 && x.Function[0] == '{' {
		return isCall(x.Function, tools)
	}
	input := x.Arguments
	if input == nil {
		input = x.Parameters
	}
	return slices.ContainsFunc(tools, func(t Tool) bool {
		return (x.Name == t.Name || x.ToolName == t.Name || string(x.Function) == `"`+t.Name+`"`) && t.takes(input)
	})
}

// takes reports whether JSON is an object with one of the tool's arguments, or with none.
func (t Tool) takes(input json.RawMessage) bool {
	var has map[string]json.RawMessage
	if input == nil || json.Unmarshal(unquoted(input), &has) != nil {
		return false
	}
	var schema struct{ Properties map[string]json.RawMessage }
	_ = json.Unmarshal(t.Schema, &schema) // a tool without a schema has no arguments
	for name := range has {
		if schema.Properties[name] != nil || name == wrapped {
			return true
		}
	}
	return len(has) == 0
}

// closed returns JSON with the brackets at its end that a model forgot (vllm-project/vllm#11786).
func closed(text string) string {
	var open []byte
	inText := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if inText {
		return text // cut off
	}
	slices.Reverse(open)
	return text + string(open)
}
