package model

import "ringi/shared/domain/modelname"

// Source is a page that a vendor's own search found.
type Source struct {
	Title string `json:"title,omitempty"`
	URL   string `json:"url"`
}

// Searching reports whether a model's wire has a web search of the vendor's own: Anthropic's Messages (web_search) and
// OpenAI's Responses (web_search). Chat Completions of compatible endpoints document none: Gemini searches on its native
// API alone, and xAI removed its search from them. Bedrock's Converse has none.
func Searching(name string) bool {
	n, err := modelname.Parse(name)
	return err == nil && (n.Provider == modelname.Anthropic || n.Provider == modelname.OpenAI)
}
