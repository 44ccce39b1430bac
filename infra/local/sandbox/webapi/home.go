package webapi

import "fmt"

// PublishHome replaces a person's Home tab of the app. It returns UserNotFound, or HashConflict if hash is set and is
// not the current view's hash.
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

// Home returns a person's Home tab, and false if the app has not published one.
func (w *Workspace) Home(user string) (View, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.homes[user]
	return v, ok
}
