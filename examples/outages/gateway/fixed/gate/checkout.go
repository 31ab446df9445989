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
	outcome := "page sent"
	defer func() {
		slog.InfoContext(ctx, "checkout", "user", user, "outcome", outcome, "timed_out", p.TimedOut)
	}()

	p.Account, err = backend.LoadAccount(ctx, user)
	switch {
	case ctx.Err() != nil:
		outcome = "caller left during account"
		return
	case errors.Is(err, httpx.ErrTimeout):
		p.TimedOut = append(p.TimedOut, "account")
	case err != nil:
		outcome = err.Error()
		http.Error(w, "account unavailable", http.StatusBadGateway)
		return
	}

	p.Cart, err = backend.LoadCart(ctx, user)
	switch {
	case ctx.Err() != nil:
		outcome = "caller left during cart"
		return
	case errors.Is(err, httpx.ErrTimeout):
		p.TimedOut = append(p.TimedOut, "cart")
	case err != nil:
		outcome = err.Error()
		http.Error(w, "cart unavailable", http.StatusBadGateway)
		return
	}

	p.Delivery, err = backend.LoadDelivery(ctx, user)
	switch {
	case ctx.Err() != nil:
		outcome = "caller left during delivery"
		return
	case errors.Is(err, httpx.ErrTimeout):
		p.TimedOut = append(p.TimedOut, "delivery")
	case err != nil:
		outcome = err.Error()
		http.Error(w, "delivery unavailable", http.StatusBadGateway)
		return
	}

	writeJSON(w, p)
}
