// Package backend knows the services behind the gateway.
package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"example.com/shop/gateway/httpx"
)

const (
	accountURL  = "http://account.shop.svc.cluster.local:8080"
	cartURL     = "http://cart.shop.svc.cluster.local:8080"
	deliveryURL = "http://delivery.shop.svc.cluster.local:8080"
)

// Account is the customer as the checkout page shows them.
type Account struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Cart is what the customer is about to buy.
type Cart struct {
	SKUs  []string `json:"skus"`
	Cents int64    `json:"cents"`
}

// Delivery is the offer for the customer's address.
type Delivery struct {
	Carrier string    `json:"carrier"`
	Arrives time.Time `json:"arrives"`
}

// LoadAccount asks the account service.
func LoadAccount(ctx context.Context, user string) (account Account, err error) {
	body, err := httpx.Send(ctx, accountURL+"/v1/accounts/"+url.PathEscape(user),
		httpx.WithTimeout(time.Second), httpx.WithHeader("Accept", "application/json"))
	if err != nil {
		return account, fmt.Errorf("account: %w", err)
	}
	err = json.Unmarshal(body, &account)
	return account, err
}

// LoadCart asks the cart service.
func LoadCart(ctx context.Context, user string) (cart Cart, err error) {
	body, err := httpx.Send(ctx, cartURL+"/v1/carts/"+url.PathEscape(user),
		httpx.WithTimeout(time.Second), httpx.WithHeader("Accept", "application/json"))
	if err != nil {
		return cart, fmt.Errorf("cart: %w", err)
	}
	err = json.Unmarshal(body, &cart)
	return cart, err
}

// LoadDelivery asks the delivery service.
func LoadDelivery(ctx context.Context, user string) (delivery Delivery, err error) {
	body, err := httpx.Send(ctx, deliveryURL+"/v1/offers/"+url.PathEscape(user),
		httpx.WithTimeout(time.Second), httpx.WithHeader("Accept", "application/json"))
	if err != nil {
		return delivery, fmt.Errorf("delivery: %w", err)
	}
	err = json.Unmarshal(body, &delivery)
	return delivery, err
}
