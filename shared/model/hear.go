package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/outbound"
	"ringi/shared/words/legible"
)

// stops are the reasons to stop that are known, of all vendors. The first say that an answer is whole. With any other
// reason, and with none, it broke off. Published in
//   - https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons;
//   - https://developers.openai.com/api/reference: finish_reason of Chat Completions, status of Responses;
//   - https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html;
//   - https://docs.mistral.ai/api and https://api-docs.deepseek.com: model_length, insufficient_system_resource.
//
// Servers of Hugging Face and Together say eos_token and eos; gateways pass on Anthropic's and Google's words
// (https://ai.google.dev/api/generate-content: FinishReason); Zhipu says sensitive. Some say more behind a colon.
var stops = map[string]Stop{
	"stop": StopEnd, "end_turn": StopEnd, "stop_sequence": StopEnd, "completed": StopEnd, "eos": StopEnd,
	"eos_token": StopEnd, "tool_calls": StopEnd, "tool_use": StopEnd, "function_call": StopEnd,
	"length": StopLength, "max_tokens": StopLength, "max_output_tokens": StopLength, "model_length": StopLength,
	"model_context_window_exceeded": StopLength,
	"refusal":                       StopRefused, "content_filter": StopRefused, "content_filtered": StopRefused,
	"guardrail_intervened": StopRefused, "safety": StopRefused, "image_safety": StopRefused,
	"prohibited_content": StopRefused, "image_prohibited_content": StopRefused, "recitation": StopRefused,
	"image_recitation": StopRefused, "blocklist": StopRefused, "spii": StopRefused, "sensitive": StopRefused,
	"malformed_function_call": StopBroken, "malformed_response": StopBroken, "unexpected_tool_call": StopBroken,
	"too_many_tool_calls": StopBroken, "missing_thought_signature": StopBroken, "language": StopBroken,
	"other": StopBroken, "error": StopBroken, "abort": StopBroken, "insufficient_system_resource": StopBroken,
}

// callsFollow are the reasons that announce a call.
var callsFollow = map[string]bool{"tool_calls": true, "tool_use": true, "function_call": true}

// Hearing puts an answer together from the pieces in which it arrives. All wires share it, so that all take the same
// answers and none takes half of one. End completes it.
type Hearing struct {
	out    *Response
	onText func(string)
	asked  Request
	from   string // of what the vendor hangs on calls
	json   bool   // the answer is to be JSON, which has no thoughts in it
	// Thoughts says whether the text may have thoughts in it. A text that may begin within one is kept back until it is
	// sure that it doesn't.
	Thoughts Marking
	// Vendor is for whom the tools are Takeable; empty if any schema is taken.
	Vendor string

	raw      strings.Builder
	seen     int // how much of it was looked at
	said     int // bytes of words, thoughts and arguments
	shown    string
	held     bool            // a call may stand in it
	leaks    bool            // special tokens may stand at its end
	cut      int             // how many bytes of them did at the last look
	at       map[string]int  // index of the vendor's -> index of the call
	repeats  []repeating     // of each call
	unended  map[string]bool // indices of calls that have to end
	lost     string          // what the answer lacks, whatever reason to stop it has
	thoughts []Thought       // since the last call
	newest   string          // the block of the newest thought
	unspoken int             // tokens of thoughts that came apart from the text
	calls    bool            // the reason to stop announces a call
}

// Hear begins an answer. Thoughts are hung on the call after them, as coming from there; onText may be nil.
func Hear(out *Response, r Request, from string, onText func(string)) *Hearing {
	if onText == nil {
		onText = func(string) {}
	}
	return &Hearing{out: out, onText: onText, asked: r, from: from, json: r.Schema != nil, at: map[string]int{},
		unended: map[string]bool{}}
}

// Thought is a block of thoughts that a vendor wants back with the call after it, signed or sealed.
type Thought struct {
	ID        string `json:"id,omitempty"`
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Sealed    []byte `json:"sealed,omitempty"`
}

// Say adds a piece of the text.
func (h *Hearing) Say(piece string) {
	if piece == "" {
		return
	}
	h.raw.WriteString(piece)
	h.said += len(piece)
	// Each look begins at the beginning, or at the first of many tokens, so that a long text is looked at less often.
	if n := h.raw.Len(); (h.Thoughts != Apart || h.cut > rarely/4) && n > rarely && n-h.seen < n/32 {
		return
	}
	seen := h.seen
	h.seen = h.raw.Len()
	h.leaks = h.leaks || h.Thoughts != Apart
	written := h.written(false)
	h.cut = h.raw.Len() - len(written)
	text, marked := spoken(written, h.Thoughts, h.json, false)
	h.out.Text = text
	h.held = h.held || len(h.asked.Tools) > 0 && spelled(text, h.raw.Len()-seen)
	if h.held || opens(text, h.asked.Tools) { // End knows
		return
	}
	if h.Thoughts == Opened && marked == unmarked && text != "" { // its beginning is no thought, whatever follows
		h.Thoughts = Apart
	}
	if marked != unmarked || h.Thoughts != Begun {
		h.show()
	}
}

// written is the text so far, without the tokens at its end.
func (h *Hearing) written(whole bool) string {
	if !h.leaks {
		return h.raw.String()
	}
	return ended(h.raw.String(), whole)
}

// rarely is from how many bytes on a text is not looked at with each piece.
const rarely = 4 << 10

// Bounded returns the error of an answer that says too much.
func (h *Hearing) Bounded() error {
	if h.said > outbound.MaxBody {
		return tooMuch
	}
	return nil
}

func (h *Hearing) show() {
	if h.out.Text != h.shown {
		h.shown = h.out.Text
		h.onText(h.shown)
	}
}

// Think adds a piece of a block of thoughts, or with an empty block a whole one.
func (h *Hearing) Think(block string, piece Thought) {
	h.Thinks(piece.Text)
	if n := len(h.thoughts); n > 0 && block != "" && h.newest == block {
		t := &h.thoughts[n-1]
		t.Text, t.Signature, t.Sealed = t.Text+piece.Text, t.Signature+piece.Signature, append(t.Sealed, piece.Sealed...)
		return
	}
	h.thoughts, h.newest = append(h.thoughts, piece), block
}

// Thinks counts thoughts that the vendor doesn't want back. They show that the text does not begin within one. It may
// repeat them between their tags, as those of gateways do that serve both kinds of clients.
func (h *Hearing) Thinks(text string) {
	h.unspoken += estimate(text)
	h.said += len(text)
	if text != "" {
		h.Thoughts = min(h.Thoughts, Opened)
	}
}

// Stops adds the reason why the model stopped; empty: none yet. Of several the one counts that says less of the answer.
func (h *Hearing) Stops(reason string) {
	reason, _, _ = strings.Cut(strings.ToLower(reason), ":")
	if reason == "" || reason == "null" {
		return
	}
	why, known := stops[reason]
	if !known {
		why = StopBroken
	}
	if h.out.Stop == "" || h.out.Stop == StopEnd || why == StopRefused {
		h.out.Stop, h.out.Why = why, word(reason)
	}
	h.calls = h.calls || callsFollow[reason]
	if reason == "model_context_window_exceeded" {
		h.out.Full = true // more tokens don't help
	}
}

// Native adds the reason of the vendor behind a gateway, which may take any for an end. One that is not known says
// nothing.
func (h *Hearing) Native(reason string) {
	name, _, _ := strings.Cut(strings.ToLower(reason), ":")
	if why, known := stops[name]; known && why != StopEnd || callsFollow[name] {
		h.Stops(reason)
	}
}

// Break says that the answer lacks something, unless the model refused.
func (h *Hearing) Break(lacking string) {
	if h.out.Stop != StopRefused {
		h.out.Stop, h.out.Why = StopBroken, lacking
	}
}

// Instead replaces the text so far by all of it, which a stream's last event repeats. An empty one replaces nothing.
func (h *Hearing) Instead(text string) {
	if text != "" && text != h.raw.String() {
		h.raw.Reset()
		h.seen = 0
		h.Say(text)
	}
}

// End completes the answer, whose vendor has nothing more to say, and returns err. With an error it is none, and has
// what was said only to be counted.
func (h *Hearing) End(err error) error {
	raw := h.written(true)
	text, marked := spoken(raw, h.Thoughts, h.json, true)
	h.out.Text = text
	h.out.Thought = h.unspoken + estimate(raw) - estimate(text)
	unreadable := ""
	for i := range h.out.Calls {
		unreadable = cmp.Or(unreadable, h.complete(i))
	}
	none := len(h.out.Calls) == 0
	switch {
	case err != nil:
		h.out.Stop, h.out.Why = "", ""
	case h.out.Stop == "":
		h.Break("no reason")
	case h.out.Stop != StopEnd:
	case h.lost != "":
		h.Break(h.lost)
	case len(h.unended) > 0:
		h.Break("a call without an end")
	case unreadable != "":
		h.Break(unreadable)
	case none && h.calls:
		h.Break("a call that did not come")
	case none && !h.json && called(text, h.asked.Tools):
		h.Break("a call that stands in the text")
	case none && marked == within:
		h.Break("thoughts without an end")
	default:
		h.show()
	}
	return err
}

// Limits of what a model may write, in characters.
const (
	MaxTitle       = 150
	MaxDescription = 3000
	MaxPolicy      = task.MaxPolicy
	MaxSummary     = 2000
	MaxRemarks     = 2000
	// MaxStepText is the limit of a step's description and of its expected output.
	MaxStepText = 1000
)

// line joins a text into one line: each run of spaces and line ends becomes one space.
func line(s string) string { return strings.Join(strings.Fields(prose(s)), " ") }

// maxNamed is the length to which names and ids of a vendor's server are cut.
const maxNamed = 150

// Named formats a name from a vendor's server for rows and logs: one line of at most 150 characters.
func Named(s string) string {
	return legible.First(line(s), maxNamed)
}

// RequestID returns a request id from a vendor's server for rows and logs, or an empty text if it can't be one. It is
// never cut, because vendors look up only complete ids.
func RequestID(s string) string {
	if len(s) > maxNamed || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return s
}

// prose trims a text, and removes invisible characters and repeated empty lines.
func prose(s string) string { return strings.TrimSpace(legible.Paragraphs(legible.Visible(s))) }

// bounded returns the problem of a field that is blank or too long.
func bounded(field, s string, limit int) []string {
	switch n := utf8.RuneCountInString(s); {
	case !legible.Text(s):
		return []string{field + " is empty"}
	case n > limit:
		return []string{fmt.Sprintf("%s has %d characters, the limit is %d", field, n, limit)}
	}
	return nil
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// inSlack is the length of a text as Slack counts: escaped, in UTF-16 units.
func inSlack(s string) int { return len(utf16.Encode([]rune(escapes.Replace(s)))) }

const (
	// maxEarlier bounds the reasons of rejections that a prompt repeats in full, in estimated tokens.
	maxEarlier = 16_000
	// maxOldReason is the length to which older reasons are cut, in characters.
	maxOldReason = 100
)

// estimate is an upper estimate of a text's tokens. OpenAI counts about four characters of English as one token
// (help.openai.com, "What are tokens and how to count them?"). Code and JSON have about three characters to a token,
// Japanese about one.
func estimate(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+2)/3 + other
}

// tokens estimates the tokens of a request.
func (r Request) tokens() int {
	n := estimate(r.System) + estimate(r.Standing) + estimate(string(r.Schema))
	for _, t := range r.Tools {
		n += estimate(t.Name) + estimate(t.Description) + estimate(string(t.Schema))
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += estimate(p.Text)
			switch {
			case p.Image != nil:
				n += ImageTokens
			case p.Call != nil:
				n += p.Call.tokens()
			case p.Result != nil:
				n += estimate(p.Result.Text)
			}
		}
	}
	return n
}

// tokens estimates the tokens of a call with what its vendor hung on it.
func (c Call) tokens() int {
	return estimate(c.Name) + estimate(string(c.Input)) + estimate(string(c.Hung()))
}

// ImageTokens is what vendors count for a large image.
const ImageTokens = 1_600

// earlier shortens the reasons of rejected versions, oldest first, for a prompt. As soon as the newer reasons add up to
// maxEarlier, each older one is cut to maxOldReason characters. whole reports whether version i is repeated with its
// content: only the newest is.
func earlier(all []string) (reasons []string, whole func(i int) bool) {
	reasons = slices.Clone(all)
	sum := 0
	for i := len(all) - 1; i >= 0; i-- {
		if sum += estimate(all[i]); sum > maxEarlier && i < len(all)-1 {
			reasons[i] = legible.Beginning(all[i], maxOldReason)
		}
	}
	return reasons, func(i int) bool { return i == len(all)-1 }
}
