package api

import (
	"encoding/json"
	"net/http"

	"golang.org/x/sync/errgroup"

	"example.com/social/postview/store"
)

// posts returns the posts themselves.
func (a *API) posts(w http.ResponseWriter, r *http.Request) {
	var in struct {
		URIs []string `json:"uris"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
		http.Error(w, "not a batch", http.StatusBadRequest)
		return
	}

	out := make([]store.Post, len(in.URIs))
	g, ctx := errgroup.WithContext(r.Context())
	for i, uri := range in.URIs {
		g.Go(func() (err error) {
			out[i], err = a.store.Post(ctx, uri)
			return found(err)
		})
	}
	reply(w, out, g.Wait())
}
