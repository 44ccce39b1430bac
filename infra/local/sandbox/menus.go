package sandbox

import (
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ReadMenus reads the shortcuts of an app manifest: those in a message's menu, and those that are not tied to a message.
// A shortcut's name has both languages, as in 取り消す / Cancel.
func ReadMenus(manifest string) (messages, globals []Shortcut, err error) {
	text, err := os.ReadFile(manifest)
	if err != nil {
		return nil, nil, fmt.Errorf("read the app manifest: %w", err)
	}
	var m struct {
		Features struct {
			Shortcuts []struct {
				Name, Type string
				CallbackID string `yaml:"callback_id"`
			}
		}
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		return nil, nil, fmt.Errorf("read the app manifest %s: %w", manifest, err)
	}
	for _, x := range m.Features.Shortcuts {
		s := Shortcut{CallbackID: x.CallbackID}
		s.Name, s.NameEN, _ = strings.Cut(x.Name, " / ")
		switch x.Type {
		case "message":
			messages = append(messages, s)
		case "global":
			globals = append(globals, s)
		default:
			return nil, nil, fmt.Errorf("%s: the shortcut %s is of the type %q; it is message or global", manifest, x.CallbackID, x.Type)
		}
	}
	return messages, globals, nil
}
