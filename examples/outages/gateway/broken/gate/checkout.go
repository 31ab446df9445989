package gate

import (
	"errors"
	"log/slog"
	"net/http"

	"example.com/shop/gateway/backend"
	"example.com/shop/gateway/httpx"
)

type page struct {
	Account  backend.Account  `json:"account"`
	Cart     backend.Cart     `json:"cart"`
	Delivery backend.Delivery `json:"delivery"`
	TimedOut []string         `json:"timed_out,omitempty"`
}

// checkout builds the page; a part that is too slow is left out of it.
func checkout(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	user := r.PathValue("user")
	var p page
	var err error

	p.Account, err = backend.LoadAccount(ctx, user)
	if errors.Is(err, httpx.ErrTimeout) {
		p.TimedOut = append(p.TimedOut, "account")
	} else if err != nil {
		http.Error(w, "account unavailable", http.StatusBadGateway)
		return
	}

	p.Cart, err = backend.LoadCart(ctx, user)
	if errors.Is(err, httpx.ErrTimeout) {
		p.TimedOut = append(p.TimedOut, "cart")
	} else if err != nil {
		http.Error(w, "cart unavailable", http.StatusBadGateway)
		return
	}

	p.Delivery, err = backend.LoadDelivery(ctx, user)
	if errors.Is(err, httpx.ErrTimeout) {
		p.TimedOut = append(p.TimedOut, "delivery")
	} else if err != nil {
		http.Error(w, "delivery unavailable", http.StatusBadGateway)
		return
	}

	slog.InfoContext(ctx, "checkout", "user", user, "downstream_timed_out", p.TimedOut)
	writeJSON(w, p)
}
