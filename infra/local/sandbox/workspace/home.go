package workspace

import "fmt"

// PublishHome shows a view as a person's Home tab of the app, in place of the one before. It returns UserNotFound, or
// HashConflict when hash is not empty and not that of the one before.
func (w *Workspace) PublishHome(user, hash string, spec map[string]any) (View, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.user(user); err != nil {
		return View{}, err
	}
	old, there := w.homes[user]
	if hash != "" && there && hash != old.Hash {
		return View{}, HashConflict
	}
	v := w.shape(spec)
	v.ID = old.ID
	if !there {
		v.ID = fmt.Sprintf("V0SAND%04X", w.next())
	}
	v.RootViewID = v.ID
	if w.homes == nil {
		w.homes = map[string]View{}
	}
	w.homes[user] = v
	w.tell(Change{Kind: "home", To: user, Data: v})
	return v, nil
}

// Home is a person's Home tab of the app; there is none until the app published one.
func (w *Workspace) Home(user string) (View, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.homes[user]
	return v, ok
}
